from .column_mapping import ColumnMapping as ColumnMapping
from .column_mapping import parse_columns as parse_columns
from .first_look import FirstLook as FirstLook
from .rating_lines import describe_problems as describe_problems
from .reading_elsewhere import read_elsewhere as read_elsewhere
