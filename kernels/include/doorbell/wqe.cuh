// Work requests and their encoding as mlx5 send WQEs, in units of 16 bytes.
//
//   unit 0  control: opcode, index, queue pair, number of units, completion wanted, immediate
//   unit 1  remote address and key                              (not in a NOP)
//   unit 2  data pointer | inline header and 12 bytes | atomic operands
//   unit 3  data pointer of an atomic's result | 16 more inline bytes
//   ...     16 more inline bytes each
//
// A unit is computed when it is stored; nothing of a WQE is kept in memory but the ring. Formats:
// rdma-core, providers/mlx5/mlx5dv.h.
#ifndef DOORBELL_WQE_CUH
#define DOORBELL_WQE_CUH

#include "doorbell/queue_pair.cuh"

namespace doorbell {

constexpr uint32_t kOpcodeNop = 0x00;
constexpr uint32_t kOpcodeWrite = 0x08;
constexpr uint32_t kOpcodeWriteImm = 0x09;
constexpr uint32_t kOpcodeRead = 0x10;
constexpr uint32_t kOpcodeCompareSwap = 0x11;
constexpr uint32_t kOpcodeFetchAdd = 0x12;

constexpr uint32_t kInlineFlag = 0x80000000u;
constexpr uint32_t kSignaled = 0x08;  // fm_ce_se: write a CQE

// The byte count of a data segment has 31 bits.
constexpr uint64_t kMaxMessageBytes = 0x7fffffff;

// Where the payload is when the doorbell rings: what the fence before it has to cover.
enum class source : uint32_t {
  device,     // memory of this GPU, or none: the fence of the queue pair's own scope covers it
  system,     // host memory, or on-chip memory of the HCA: needs system scope
  in_wqe,     // copied into the WQE from memory
  in_operand  // copied into the WQE from operand and compare
};

// Four bytes of an inline payload, at any alignment; zero past its end.
__device__ __forceinline__ uint32_t inline_word(source payload, uint32_t bytes, uint64_t local,
                                                uint64_t operand, uint64_t compare,
                                                uint32_t word) {
  const uint32_t at = word * 4;
  if (at >= bytes) {
    return 0;
  }
  const uint32_t left = bytes - at;
  if (payload == source::in_operand) {
    const uint64_t pair = word < 2 ? operand : compare;
    const uint32_t value = (word & 1) != 0 ? high(pair) : low(pair);
    return left >= 4 ? value : value & ((1u << left * 8) - 1);
  }
  const uint64_t address = local + at;
  if (left >= 4 && (address & 3) == 0) {
    return *reinterpret_cast<const uint32_t *>(address);
  }
  uint32_t value = 0;
#pragma unroll 1
  for (uint32_t i = 0; i < 4 && i < left; ++i) {
    value |= static_cast<uint32_t>(reinterpret_cast<const uint8_t *>(address)[i]) << i * 8;
  }
  return value;
}

// Unit `number` of an inline segment: a header of four bytes, then the payload.
__device__ __forceinline__ unit inline_unit(source payload, uint32_t bytes, uint64_t local,
                                                uint64_t operand, uint64_t compare,
                                                uint32_t number) {
  uint32_t words[4];
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t word = number * 4 + i;
    words[i] = word == 0 ? big_endian(kInlineFlag | bytes)
                         : inline_word(payload, bytes, local, operand, compare, word - 1);
  }
  return {words[0], words[1], words[2], words[3]};
}

// One operation as the HCA is to execute it. Addresses and operands in host byte order, keys as
// abi.h has them (byte-swapped already).
struct work_request {
  uint32_t opcode;
  source payload;
  uint32_t bytes;
  uint32_t local_key;
  uint32_t remote_key;
  uint32_t immediate;
  uint64_t local;  // payload, or where fetched data lands
  uint64_t remote;
  uint64_t operand;
  uint64_t compare;

  __device__ __forceinline__ bool is_inline() const {
    return payload == source::in_wqe || payload == source::in_operand;
  }

  __device__ __forceinline__ bool is_atomic() const {
    return opcode == kOpcodeFetchAdd || opcode == kOpcodeCompareSwap;
  }

  // The DS field. A message without bytes has no data segment.
  __device__ __forceinline__ uint32_t units() const {
    if (opcode == kOpcodeNop) {
      return 1;
    }
    if (is_atomic()) {
      return 4;
    }
    if (bytes == 0) {
      return 2;
    }
    return is_inline() ? 2 + (4 + bytes + kUnitBytes - 1) / kUnitBytes : 3;
  }

  // Blocks of the send ring. Only inline payloads take more than one.
  __device__ __forceinline__ uint32_t blocks() const {
    return is_inline() ? (units() + kUnitsOfBlock - 1) / kUnitsOfBlock : 1;
  }

  // Unit `number` of the WQE that lies at block `index`; units past its end are zero.
  __device__ __forceinline__ unit encode(uint32_t number, uint64_t index, uint32_t qpn,
                                         bool signaled) const {
    if (number == 0) {
      return {big_endian((low(index) & 0xffffu) << 8 | opcode), big_endian(qpn << 8 | units()),
              signaled ? kSignaled << 24 : 0u, big_endian(immediate)};
    }
    if (number == 1) {
      return opcode == kOpcodeNop
                 ? unit{0, 0, 0, 0}
                 : unit{big_endian(high(remote)), big_endian(low(remote)), remote_key, 0};
    }
    if (number >= units()) {
      return {0, 0, 0, 0};
    }
    if (is_inline()) {
      return inline_unit(payload, bytes, local, operand, compare, number - 2);
    }
    if (is_atomic() && number == 2) {
      return opcode == kOpcodeFetchAdd
                 ? unit{big_endian(high(operand)), big_endian(low(operand)), 0, 0}
                 : unit{big_endian(high(operand)), big_endian(low(operand)),
                        big_endian(high(compare)), big_endian(low(compare))};
    }
    return {big_endian(is_atomic() ? 8u : bytes), local_key, big_endian(high(local)),
            big_endian(low(local))};
  }

};

// Strong, since a thread that reads a completion may look at a slot that is written again by then.
//
// Stores a WQE with its payload in it. Out of line, like BlueFlame below: both are long, and the
// short path of a post should stay short.
inline __device__ __noinline__ void write_inline_wqe(uint64_t ring, uint32_t ring_blocks,
                                                     uint32_t qpn, work_request request,
                                                     uint64_t index, bool signaled) {
  const uint32_t units = request.units();
#pragma unroll 1
  for (uint32_t number = 0; number < units; ++number) {
    const uint64_t block = (index + number / kUnitsOfBlock) & (ring_blocks - 1);
    store_unit_strong(ring + block * kBlockBytes + number % kUnitsOfBlock * kUnitBytes,
                      request.encode(number, index, qpn, signaled));
  }
}

// Stores a WQE to the send ring, of which it may run over the end block by block.
__device__ __forceinline__ void write_wqe(const queue_pair &qp, const work_request &request,
                                          uint64_t index, bool signaled) {
  if (request.is_inline()) {
    write_inline_wqe(qp.sq_ring, qp.sq_blocks, qp.qpn, request, index, signaled);
    return;
  }
  const uint32_t units = request.units();
  const uint64_t block = qp.sq_ring + (index & (qp.sq_blocks - 1)) * kBlockBytes;
#pragma unroll
  for (uint32_t number = 0; number < kUnitsOfBlock; ++number) {
    if (number < units) {
      store_unit_strong(block + number * kUnitBytes,
                        request.encode(number, index, qp.qpn, signaled));
    }
  }
}

// Stores a WQE's blocks, whole, to one half of the BlueFlame register.
inline __device__ __noinline__ void write_blueflame(uint64_t half, uint32_t qpn,
                                                    work_request request, uint64_t index) {
  const uint32_t units = request.blocks() * kUnitsOfBlock;
#pragma unroll 1
  for (uint32_t number = 0; number < units; ++number) {
    store_unit_register(half + number * kUnitBytes, request.encode(number, index, qpn, true));
  }
}

}  // namespace doorbell

#endif  // DOORBELL_WQE_CUH
