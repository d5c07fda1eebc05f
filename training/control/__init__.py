"""Control of the published models' thresholds by the outcomes that a follower observes."""
