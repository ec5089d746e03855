"""What few commands need."""

from .configuration import use_configuration as use_configuration
from .open_hit import show_hit as show_hit
