// Copying a payload to a staging area: on-chip memory of the HCA, or host memory.
#ifndef DOORBELL_STAGE_CUH
#define DOORBELL_STAGE_CUH

#include "doorbell/operations.cuh"

namespace doorbell {

namespace detail {

// Sixteen bytes from memory at any alignment; only `left` of them exist, the rest is zero.
__device__ __forceinline__ unit load_unit(uint64_t address, uint64_t left) {
  if (left >= kUnitBytes && (address & 15) == 0) {
    const uint4 value = *reinterpret_cast<const uint4 *>(address);
    return {value.x, value.y, value.z, value.w};
  }
  uint32_t words[4] = {0, 0, 0, 0};
  for (uint32_t word = 0; word < 4; ++word) {
    const uint64_t at = address + word * 4;
    if (left >= (word + 1) * 4 && (at & 3) == 0) {
      words[word] = *reinterpret_cast<const uint32_t *>(at);
    } else {
      for (uint32_t byte = 0; byte < 4 && word * 4 + byte < left; ++byte) {
        words[word] |= static_cast<uint32_t>(reinterpret_cast<const uint8_t *>(at)[byte])
                       << byte * 8;
      }
    }
  }
  return {words[0], words[1], words[2], words[3]};
}

// How many loads a thread has in flight: a round trip to the payload serves that many.
constexpr uint32_t kUnitsInFlight = 8;

// Copies kUnitsInFlight aligned units that lie `stride` apart. All are loaded before one is stored.
__device__ __forceinline__ void copy_units(uint64_t to, uint64_t from, uint64_t stride) {
  unit units[kUnitsInFlight];
#pragma unroll
  for (uint32_t i = 0; i < kUnitsInFlight; ++i) {
    const uint4 value = *reinterpret_cast<const uint4 *>(from + i * stride);
    units[i] = {value.x, value.y, value.z, value.w};
  }
#pragma unroll
  for (uint32_t i = 0; i < kUnitsInFlight; ++i) {
    store_unit(to + i * stride, units[i]);
  }
}

}  // namespace detail

// Copies `bytes` from any address to a 16-byte aligned one, in 16-byte stores only, because stores
// that leave the GPU are dear and on-chip memory takes no single bytes: the last unit is filled up
// with zeros, so the target's room must be a multiple of 16. Neighbouring threads store neighbouring
// units. Orders nothing: the put that follows does, with source::system.
template <by kScope = by::thread>
__device__ __forceinline__ void stage(uint64_t to, uint64_t from, uint64_t bytes) {
  uint32_t first = 0;
  uint32_t step = 1;
  if constexpr (kScope == by::warp) {
    const warp_group warp = warp_group::mine();
    first = warp.lane;
    step = warp.lanes;
  } else if constexpr (kScope == by::block) {
    first = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    step = blockDim.x * blockDim.y * blockDim.z;
  }
  uint64_t at = static_cast<uint64_t>(first) * kUnitBytes;
  const uint64_t stride = static_cast<uint64_t>(step) * kUnitBytes;
  if ((from & (kUnitBytes - 1)) == 0) {
    for (; at + (detail::kUnitsInFlight - 1) * stride + kUnitBytes <= bytes;
         at += detail::kUnitsInFlight * stride) {
      detail::copy_units(to + at, from + at, stride);
    }
  }
  for (; at < bytes; at += stride) {
    store_unit(to + at, detail::load_unit(from + at, bytes - at));
  }
}

}  // namespace doorbell

#endif  // DOORBELL_STAGE_CUH
