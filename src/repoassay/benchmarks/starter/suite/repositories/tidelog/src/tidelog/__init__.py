"""Reader for the logs of small tide gauges."""

from tidelog.calibration import Channel
from tidelog.log import Event, Fault, Log
from tidelog.reader import LogError, read_log
from tidelog.series import Gap, Series

__all__ = ["Channel", "Event", "Fault", "Gap", "Log", "LogError", "Series", "read_log"]
__version__ = "2.1.0"
