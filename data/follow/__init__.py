"""Follow traffic as it happens: hourly datasets, and each batch as soon as it arrives."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import lazy_exports

if TYPE_CHECKING:
    from birthmark.data.follow.run import Follower as Follower
    from birthmark.data.follow.run import follow as follow
    from birthmark.data.follow.status import Status as Status

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "birthmark.data.follow.run": ["Follower", "follow"],
        "birthmark.data.follow.status": ["Status"],
    },
)
