//! SQM: fair queues that are tuned by prices.
