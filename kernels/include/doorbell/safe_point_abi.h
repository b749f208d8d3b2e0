// What the host and kernels agree on at a safe point: the place between two operations of a poster at
// which the host may change what the poster posts to. The protocol is in doorbell/safe_point.cuh and
// docs/recovery.md.
//
// This file is its only definition; the host's Java view (dev.doorbell.core.queue.SafePointView) is
// checked against it by a test. Everything is little-endian. Plain C.
#ifndef DOORBELL_SAFE_POINT_ABI_H
#define DOORBELL_SAFE_POINT_ABI_H

#include <stdint.h>

// doorbell_poster.state, below the epoch
#define DOORBELL_POSTER_SHIFT 2u
#define DOORBELL_POSTER_POSTING 0u
#define DOORBELL_POSTER_WAITING 1u  // at the safe point, because the host asked
#define DOORBELL_POSTER_FAILED 2u   // at the safe point, because a post or a wait failed
#define DOORBELL_POSTER_ENDED 3u    // posts no more

// doorbell_safe_point.granted: there is no epoch any more, posters end.
#define DOORBELL_SAFE_POINT_CLOSED 0xffffffffffffffffull

// Lies in GPU memory. The host writes it, posters read it. Epochs rise by one.
struct doorbell_safe_point {
  uint64_t wanted;   // posters of an earlier epoch are to come to the safe point
  uint64_t granted;  // posters may post in this epoch
  uint64_t posters;  // struct doorbell_poster[threads of the grid]
  uint64_t reserved[5];
};

// How a poster tells the host where it is: written by that poster alone.
struct doorbell_poster {
  uint64_t state;   // epoch << DOORBELL_POSTER_SHIFT | DOORBELL_POSTER_*
  uint64_t posted;  // operations that it has posted since it started
};

#endif  // DOORBELL_SAFE_POINT_ABI_H
