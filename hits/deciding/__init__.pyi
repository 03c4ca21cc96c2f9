from .following import follow_rule as follow_rule
from .rule_state import has_stopped as has_stopped
from .rule_state import is_rule_due as is_rule_due
from .rule_state import rule_of as rule_of
from .rule_words import describe_followed as describe_followed
