// What the host and kernels agree on beside abi.h for channels of the GPU-Push Interface. The device side is
// in doorbell/gpi.cuh. Little-endian, plain C; the host's Java view (dev.doorbell.core.gpi.GpiView) is
// checked against it by a test.
#ifndef DOORBELL_GPI_ABI_H
#define DOORBELL_GPI_ABI_H

#include <stdint.h>

// doorbell_qp.commands of a queue pair with DOORBELL_QP_GPI.
struct doorbell_gpi {
  uint64_t ring;        // descriptors of 64 bytes in the NIC's memory
  uint64_t consumed;    // address of the NIC's 64-bit consumer index, GPU memory
  uint64_t counter;     // address of the 64-bit counter of completions, GPU memory
  uint32_t log_depth;   // of the ring
  uint32_t peer;
  uint32_t counter_id;
  uint32_t counter_pad;
  uint64_t reserved[3];
};

#endif  // DOORBELL_GPI_ABI_H
