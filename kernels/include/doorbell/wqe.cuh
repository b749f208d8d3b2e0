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

  // Unit `number` of the WQE that lies at block `index`, but of no inline payload; units past its end
  // are zero.
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

// An inline payload on its way into a WQE. The first word of each 32 bytes is loaded ahead of all
// others: a load of host memory takes more than a microsecond, so these wait together, and the other
// words are found in the L1 cache.
class inline_payload {
 public:
  __device__ __forceinline__ explicit inline_payload(const work_request &request)
      : request_(request), words_(0), first_{} {
    if (request.payload == source::in_wqe && (request.local & 3) == 0) {
      words_ = request.bytes / 4;
#pragma unroll
      for (uint32_t i = 0; i < kSectors; ++i) {
        if (i * kWordsOfSector < words_) {
          first_[i] = load(i * kWordsOfSector);
        }
      }
    }
  }

  // Calls store(number, unit) for the segment's units in order: a header of four bytes, then the
  // payload, then zeros up to the end of the last of `count` units.
  template <typename Store>
  __device__ __forceinline__ void encode(uint32_t count, Store store) const {
    uint32_t number = 0;
#pragma unroll
    for (uint32_t sector = 0; sector < kSectors; ++sector) {
      const uint32_t next = sector * kWordsOfSector;
      if (next + 6 < words_) {
        store(2 * sector, unit{sector == 0 ? header() : load(next - 1), first_[sector],
                               load(next + 1), load(next + 2)});
        store(2 * sector + 1, unit{load(next + 3), load(next + 4), load(next + 5), load(next + 6)});
        number = 2 * sector + 2;
      }
    }
#pragma unroll 1
    for (; number < count; ++number) {
      const uint32_t next = number * 4;
      store(number, unit{number == 0 ? header() : word(next - 1), word(next), word(next + 1),
                         word(next + 2)});
    }
  }

 private:
  static constexpr uint32_t kWordsOfSector = 8;
  static constexpr uint32_t kSectors = 3;

  __device__ __forceinline__ uint32_t header() const {
    return big_endian(kInlineFlag | request_.bytes);
  }

  __device__ __forceinline__ uint32_t load(uint32_t number) const {
    return reinterpret_cast<const uint32_t *>(request_.local)[number];
  }

  __device__ __forceinline__ uint32_t word(uint32_t number) const {
    if (number % kWordsOfSector == 0 && number < words_ && number < kSectors * kWordsOfSector) {
      return number == 0 ? first_[0] : number == kWordsOfSector ? first_[1] : first_[2];
    }
    return inline_word(request_.payload, request_.bytes, request_.local, request_.operand,
                       request_.compare, number);
  }

  const work_request &request_;
  uint32_t words_;  // whole ones that can be loaded as such
  uint32_t first_[kSectors];
};

// Strong, since a thread that reads a completion may look at a slot that is written again by then.
//
// Stores a WQE with its payload in it. Out of line, like BlueFlame below: both are long, and the
// short path of a post should stay short.
inline __device__ __noinline__ void write_inline_wqe(uint64_t ring, uint32_t ring_blocks,
                                                     uint32_t qpn, work_request request,
                                                     uint64_t index, bool signaled) {
  const inline_payload payload(request);
  const uint32_t units = request.units();
  const uint64_t first = ring + (index & (ring_blocks - 1)) * kBlockBytes;
  store_unit_strong(first, request.encode(0, index, qpn, signaled));
  store_unit_strong(first + kUnitBytes, request.encode(1, index, qpn, signaled));
  payload.encode(units - 2, [&](uint32_t unit_of_segment, unit value) {
    const uint32_t number = unit_of_segment + 2;
    const uint64_t block = (index + number / kUnitsOfBlock) & (ring_blocks - 1);
    store_unit_strong(ring + block * kBlockBytes + number % kUnitsOfBlock * kUnitBytes, value);
  });
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
  if (!request.is_inline()) {
#pragma unroll 1
    for (uint32_t number = 0; number < units; ++number) {
      store_unit_register(half + number * kUnitBytes, request.encode(number, index, qpn, true));
    }
    return;
  }
  const inline_payload payload(request);
  const uint32_t used = request.units();
  store_unit_register(half, request.encode(0, index, qpn, true));
  store_unit_register(half + kUnitBytes, request.encode(1, index, qpn, true));
  payload.encode(units - 2, [&](uint32_t unit_of_segment, unit value) {
    store_unit_register(half + (unit_of_segment + 2) * kUnitBytes,
                        unit_of_segment + 2 < used ? value : unit{0, 0, 0, 0});
  });
}

}  // namespace doorbell

#endif  // DOORBELL_WQE_CUH
