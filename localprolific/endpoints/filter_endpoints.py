"""Answer which filters there are."""

from localprolific.endpoints.endpoint_table import ApiAnswer, ApiCall, endpoint
from localprolific.endpoints.page_links import whole_list
from localprolific.filter_catalogue import all_filters


@endpoint("GET", "filters/")
def list_filters(call: ApiCall) -> ApiAnswer:
    return ApiAnswer(whole_list(all_filters()))
