// What the host and kernels agree on beside abi.h for queue pairs of the Elastic Fabric Adapter. The device
// side is in doorbell/efa.cuh. Little-endian, plain C; the host's Java view (dev.doorbell.core.efa.EfaView)
// is checked against it by a test.
#ifndef DOORBELL_EFA_ABI_H
#define DOORBELL_EFA_ABI_H

#include <stdint.h>

// doorbell_qp.commands of a queue pair with DOORBELL_QP_EFA.
struct doorbell_efa {
  uint64_t completed;       // address of the 64-bit counter of good completions, GPU or host memory
  uint64_t failed;          // address of the counter of others
  uint64_t counter_max;     // a counter that holds this becomes 0 next
  uint64_t counter_start;   // what `completed` held before the first completion
  uint32_t remote_number;   // queue pair at the peer
  uint32_t address_handle;  // the peer
  uint32_t queue_key;       // of the peer's queue pair
  uint32_t max_batch;       // work requests that one doorbell may stand for
  uint64_t reserved[2];
};

#endif  // DOORBELL_EFA_ABI_H
