// What the protocols that push share.
#ifndef DOORBELL_PUSH_PROTOCOL_CUH
#define DOORBELL_PUSH_PROTOCOL_CUH

#include "doorbell/push.cuh"
#include "protocol.cuh"

namespace doorbell {
namespace protocol {

// The calling thread's share of the sum of a payload's words.
__device__ __forceinline__ uint32_t share_of_sum(uint64_t from, uint32_t bytes) {
  uint32_t sum = 0;
  for (uint32_t at = threadIdx.x * 4; at < bytes; at += blockDim.x * 4) {
    sum += *reinterpret_cast<const uint32_t *>(from + at);
  }
  return sum;
}

}  // namespace protocol
}  // namespace doorbell

#endif  // DOORBELL_PUSH_PROTOCOL_CUH
