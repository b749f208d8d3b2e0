// What the host and kernels agree on about collectives: a rank's part of one is a list of steps. The host
// makes the list (dev.doorbell.experiments.collective), the device library executes it (collective.cuh).
//
// This file is their only definition; the host's Java view (dev.doorbell.core.queue.StepView) is checked
// against it by a test. Everything is little-endian. Plain C.
#ifndef DOORBELL_COLLECTIVE_ABI_H
#define DOORBELL_COLLECTIVE_ABI_H

#include <stdint.h>

// One step: wait for a flag of a peer, then copy or reduce, then put; each of the three may be left out.
// Offsets count bytes in a rank's arena: the memory that holds its send buffer, its receive buffer and what
// arrives in between. They are multiples of 16.
//
// A flag is the number of a message, from 1, among the wait_flags (put_flags) messages that one rank sends
// another in a turn; it is written to the word of the sender's rank among the receiver's flags.
struct doorbell_step {
  uint32_t wait_peer;
  uint32_t wait_flag;   // 0: do not wait
  uint32_t wait_flags;
  uint32_t combine;     // DOORBELL_COMBINE_*
  uint64_t target;      // where the result goes; in the switch: in all GPUs
  uint64_t first;       // the only operand of a copy, or the first of a reduction; in the switch: of all GPUs
  uint64_t second;      // the second operand of a reduction; what is packed, of both
  uint64_t bytes;       // of each
  uint32_t put_peer;
  uint32_t put_flag;    // 0: none; packed data needs none
  uint32_t put_flags;
  uint32_t put;         // DOORBELL_PUT_*
  uint64_t put_source;
  uint64_t put_target;  // in the peer's arena
  uint64_t put_bytes;   // of the data, before it is packed
  uint64_t packed;      // where it is packed before it is put
};

// doorbell_step.combine
#define DOORBELL_COMBINE_NONE 0u
#define DOORBELL_COMBINE_COPY 1u
#define DOORBELL_COMBINE_REDUCE 2u
#define DOORBELL_COMBINE_SWITCH 3u  // the NVSwitch adds `first` of all GPUs of the node; floats
#define DOORBELL_COMBINE_PACKED 4u  // or: `second` is packed, and is waited for word by word

// doorbell_step.put. Packed data is 8 bytes for each 4: the data, then the number of the turn, from 1. The
// receiver polls them where they arrive, so that data and flag are one message.
#define DOORBELL_PUT_NONE 0u
#define DOORBELL_PUT_DATA 1u
#define DOORBELL_PUT_PACKED 2u
#define DOORBELL_PUT_INLINE 4u  // or: in the WQE
#define DOORBELL_PUT_NEAR 8u    // or: the peer's arena and flags are reached by stores; nothing is posted

// doorbell_job.opcode of the protocol `collective`: type << 8 | reduction
#define DOORBELL_TYPE_F32 0u
#define DOORBELL_TYPE_F16 1u
#define DOORBELL_TYPE_BF16 2u
#define DOORBELL_TYPE_I32 3u
#define DOORBELL_REDUCE_SUM 0u
#define DOORBELL_REDUCE_MAX 1u
#define DOORBELL_REDUCE_MIN 2u

#endif  // DOORBELL_COLLECTIVE_ABI_H
