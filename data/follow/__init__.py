"""Traffic followed as it happens: datasets hour by hour, and each batch as soon as it is there."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import offered

if TYPE_CHECKING:
    from birthmark.data.follow.run import Follower as Follower
    from birthmark.data.follow.run import follow as follow
    from birthmark.data.follow.status import Status as Status

__getattr__, __all__ = offered(
    __name__,
    {
        "birthmark.data.follow.run": ["Follower", "follow"],
        "birthmark.data.follow.status": ["Status"],
    },
)
