// An HCA in software that answers one or more queue pairs by polling their doorbells: enough of mlx5
// to execute and to check what kernels of this project post. Formats: rdma-core, providers/mlx5.
//
// It executes a queue pair's WQEs in order, trusts nothing that it reads, and stops at the first thing
// that an HCA would not accept: Nic::fault says what it was.
#ifndef DOORBELL_BENCH_NIC_H
#define DOORBELL_BENCH_NIC_H

#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <atomic>
#include <string>
#include <vector>

namespace bench {

constexpr uint32_t kLocalKey = 0x00112233;
constexpr uint32_t kRemoteKey = 0x00445566;

// A range of memory that work requests may name.
struct window {
  uint8_t *base;
  uint64_t bytes;

  uint8_t *at(uint64_t address, uint64_t length) const {
    const uint64_t offset = address - reinterpret_cast<uint64_t>(base);
    return offset <= bytes && length <= bytes - offset ? base + offset : nullptr;
  }
};

// One queue pair as the HCA sees it; all memory is the host's. No two share a line.
struct alignas(256) nic_queue {
  uint8_t *ring;
  uint64_t *doorbell;
  uint32_t *record;       // or null: none is written
  bool record_first;      // the record must not be behind the doorbell
  uint8_t *cq;
  uint32_t *cq_record;    // or null: overrun is ignored
  uint32_t blocks;
  uint32_t entries;
  bool collapsed;
  uint32_t qpn;
  bool foreign = false;   // another library posts: flags have garbage, faults are noted and do not stop

  uint64_t head = 0;      // next block to execute
  uint64_t end = 0;       // the doorbell's: those before it may be executed
  uint64_t completions = 0;
  uint64_t last_doorbell = 0;
  uint64_t doorbells = 0;
};

class alignas(256) nic {
 public:
  // turn: WQEs of a queue pair before the others have their turn.
  nic(window local, window remote, uint64_t stride, uint64_t slots, uint64_t turn = UINT64_MAX)
      : local_(local), remote_(remote), stride_(stride),
        stride_shift_(static_cast<uint32_t>(__builtin_ctzll(stride))), turn_(turn),
        counts_(slots) {}

  void add(nic_queue *queue) { queues_.push_back(queue); }

  // Polls until told to stop.
  void run(const std::atomic<bool> &stop) {
    uint64_t last = __rdtsc();
    while (!stop.load(std::memory_order_relaxed) && (fault.empty() || queues_[0]->foreign)) {
      bool idle = true;
      for (nic_queue *queue : queues_) {
        const uint64_t rung = __atomic_load_n(queue->doorbell, __ATOMIC_ACQUIRE);
        if (rung != queue->last_doorbell || queue->head != queue->end) {
          const uint64_t start = __rdtsc();
          if (rung == queue->last_doorbell || look(*queue, rung)) {
            answer(*queue);
          }
          busy += __rdtsc() - start;
          idle = false;
        }
      }
      const uint64_t now = __rdtsc();
      if (now - last > kStall) {
        ++stalls;
        if (queues_.size() == 1 && stalled.size() < kMostStalled) {
          stalled.push_back(queues_[0]->head);
        }
      }
      last = now;
      if (idle) {
        _mm_pause();
      }
    }
  }

  // How many WQEs named the message of each slot.
  const std::vector<uint32_t> &counts() const { return counts_; }

  std::string fault;
  uint64_t executed = 0;
  uint64_t busy = 0;  // ticks of the time stamp counter
  uint64_t stalls = 0;  // rounds of more than kStall ticks
  std::vector<uint64_t> stalled;  // of one queue: its head at the end of each such round

 private:
  static uint32_t be32(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, 4);
    return __builtin_bswap32(v);
  }

  static uint64_t be64(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, 8);
    return __builtin_bswap64(v);
  }

  bool refuse(const nic_queue &queue, const char *what, uint64_t value) {
    char text[160];
    snprintf(text, sizeof text, "queue pair %u, block %llu: %s (%llx)", queue.qpn,
             static_cast<unsigned long long>(queue.head), what,
             static_cast<unsigned long long>(value));
    if (fault.empty()) {
      fault = text;
    }
    return false;
  }

  // Takes the index of a doorbell; false when an HCA would not accept it.
  bool look(nic_queue &queue, uint64_t rung) {
    queue.last_doorbell = rung;
    ++queue.doorbells;
    const uint32_t index = __builtin_bswap32(static_cast<uint32_t>(rung)) >> 8 & 0xffffu;
    const uint32_t qpn = __builtin_bswap32(static_cast<uint32_t>(rung >> 32)) >> 8;
    const uint32_t news = (index - static_cast<uint32_t>(queue.head)) & 0xffffu;
    if (qpn != queue.qpn) {
      return refuse(queue, "the doorbell names another queue pair", qpn);
    }
    if (news > queue.blocks && queue.foreign) {
      return false;  // it went back: what the record says has been executed
    }
    if (news > queue.blocks) {
      return refuse(queue, "the doorbell went back, or too far", index);
    }
    if (queue.record_first) {
      const uint32_t record = __builtin_bswap32(__atomic_load_n(queue.record, __ATOMIC_ACQUIRE));
      if (((record - index) & 0xffffu) > queue.blocks) {
        return refuse(queue, "the record is behind the doorbell", record);
      }
    }
    queue.end = queue.head + news;
    return true;
  }

  void answer(nic_queue &queue) {
    const uint64_t end = queue.end - queue.head > turn_ ? queue.head + turn_ : queue.end;
    for (uint64_t i = queue.head; i < end && i < queue.head + kAhead; ++i) {
      prefetch(queue, i);
    }
    while (queue.head < end) {
      if (queue.head + kAhead < end) {
        prefetch(queue, queue.head + kAhead);
      }
      if (!execute_put(queue) && !execute(queue, queue.end)) {
        if (queue.foreign) {
          complete(queue, queue.head++, 0x08);  // so that the kernel ends
          continue;
        }
        return;
      }
    }
  }

  static constexpr uint64_t kAhead = 16;

  // Half a microsecond at 2 GHz: several times the round of a thread that nobody interrupts and that executes a put.
  static constexpr uint64_t kStall = 1000;
  static constexpr uint64_t kMostStalled = 1 << 20;

  static void prefetch(const nic_queue &queue, uint64_t index) {
    _mm_prefetch(reinterpret_cast<const char *>(block(queue, index)), _MM_HINT_T0);
  }

  // The usual WQE, a put of 8 bytes, all of it checked at once; false when it is another one.
  bool execute_put(nic_queue &queue) {
    struct {
      uint32_t control, qpn_units, flags, immediate;
      uint64_t remote;
      uint32_t remote_key, reserved, bytes, local_key;
      uint64_t local;
    } wqe;
    memcpy(&wqe, block(queue, queue.head), sizeof wqe);
    const uint32_t control = __builtin_bswap32(static_cast<uint32_t>(queue.head & 0xffffu) << 8 | 0x08u);
    const uint32_t units = __builtin_bswap32(queue.qpn << 8 | 3u);
    const uint64_t to = __builtin_bswap64(wqe.remote) - reinterpret_cast<uint64_t>(remote_.base);
    const uint64_t from = __builtin_bswap64(wqe.local) - reinterpret_cast<uint64_t>(local_.base);
    if (((wqe.control ^ control) | (wqe.qpn_units ^ units) | (queue.foreign ? 0 : wqe.flags & ~0x08000000u) |
         (wqe.remote_key ^ kRemoteKey) | (wqe.local_key ^ kLocalKey) |
         (wqe.bytes ^ __builtin_bswap32(8))) != 0 ||
        to > remote_.bytes - 8 || from > local_.bytes - 8) {
      return false;
    }
    memcpy(remote_.base + to, local_.base + from, 8);
    ++counts_[to >> stride_shift_];
    ++executed;
    const uint64_t index = queue.head++;
    return (wqe.flags & 0x08000000u) == 0 || complete(queue, index, 0x08);
  }

  static uint8_t *block(const nic_queue &queue, uint64_t index) {
    return queue.ring + (index & (queue.blocks - 1)) * 64;
  }

  // Sixteen bytes of the WQE at the head.
  static const uint8_t *unit(const nic_queue &queue, uint32_t number) {
    return block(queue, queue.head + number / 4) + number % 4 * 16;
  }

  void count(uint64_t address) {
    ++counts_[(address - reinterpret_cast<uint64_t>(remote_.base)) / stride_];
  }

  bool execute(nic_queue &queue, uint64_t end) {
    const uint8_t *wqe = block(queue, queue.head);
    const uint32_t control = be32(wqe);
    const uint32_t units = be32(wqe + 4) & 0x3fu;
    const uint32_t opcode = control & 0xffu;
    if ((control >> 8 & 0xffffu) != (queue.head & 0xffffu)) {
      return refuse(queue, "a WQE of another lap: it was rung for before it was there", control);
    }
    if (be32(wqe + 4) >> 8 != queue.qpn) {
      return refuse(queue, "a WQE of another queue pair", be32(wqe + 4));
    }
    const uint32_t blocks = (units + 3) / 4;
    if (units == 0 || blocks > end - queue.head) {
      return refuse(queue, "a WQE of no size, or beyond the doorbell", units);
    }
    if (!queue.foreign && ((wqe[11] & ~0x08u) != 0 || wqe[8] != 0)) {
      return refuse(queue, "unknown flags", be32(wqe + 8));
    }
    if (opcode != 0x00 && !transfer(queue, opcode, units)) {
      return false;
    }
    ++executed;
    const uint64_t index = queue.head;
    queue.head += blocks;
    return (wqe[11] & 0x08u) == 0 || complete(queue, index, opcode);
  }

  bool transfer(nic_queue &queue, uint32_t opcode, uint32_t units) {
    const uint8_t *address = unit(queue, 1);
    const uint8_t *data = unit(queue, 2);
    uint32_t key;
    memcpy(&key, address + 8, 4);
    const uint64_t target = be64(address);
    if (key != kRemoteKey) {
      return refuse(queue, "remote key", key);
    }
    if (opcode == 0x11 || opcode == 0x12) {
      uint8_t *word = remote_.at(target, 8);
      const uint8_t *result = unit(queue, 3);
      memcpy(&key, result + 4, 4);
      uint8_t *to = local_.at(be64(result + 8), 8);
      if (units != 4 || word == nullptr || to == nullptr || key != kLocalKey ||
          be32(result) != 8) {
        return refuse(queue, "an atomic's segments", target);
      }
      uint64_t old;
      memcpy(&old, word, 8);
      const uint64_t operand = be64(data);
      const uint64_t now =
          opcode == 0x12 ? old + operand : old == be64(data + 8) ? operand : old;
      memcpy(word, &now, 8);
      memcpy(to, &old, 8);
      count(target);
      return true;
    }
    const uint32_t head = be32(data);
    const uint32_t bytes = head & 0x7fffffffu;
    uint8_t *far = remote_.at(target, bytes);
    if (far == nullptr) {
      return refuse(queue, "remote address", target);
    }
    if ((head >> 31) != 0) {
      if (opcode != 0x08 || units != 2 + (4 + bytes + 15) / 16) {
        return refuse(queue, "an inline segment's size", head);
      }
      for (uint32_t i = 0; i < bytes; ++i) {
        far[i] = unit(queue, 2 + (4 + i) / 16)[(4 + i) % 16];
      }
      count(target);
      return true;
    }
    memcpy(&key, data + 4, 4);
    uint8_t *near = local_.at(be64(data + 8), bytes);
    if (units != 3 || key != kLocalKey || near == nullptr) {
      return refuse(queue, "a data segment", be64(data + 8));
    }
    if (opcode != 0x08 && opcode != 0x10) {
      return refuse(queue, "opcode", opcode);
    }
    uint8_t *to = opcode == 0x08 ? far : near;
    const uint8_t *from = opcode == 0x08 ? near : far;
    if (bytes == 8) {
      memcpy(to, from, 8);
    } else {
      memcpy(to, from, bytes);
    }
    count(target);
    return true;
  }

  bool complete(nic_queue &queue, uint64_t index, uint32_t opcode) {
    if (queue.cq_record != nullptr) {
      const uint32_t consumed =
          __builtin_bswap32(__atomic_load_n(queue.cq_record, __ATOMIC_ACQUIRE));
      if (((static_cast<uint32_t>(queue.completions) - consumed) & 0xffffffu) >= queue.entries) {
        return refuse(queue, "the completion queue overruns", consumed);
      }
    }
    const uint64_t slot = queue.collapsed ? 0 : queue.completions & (queue.entries - 1);
    const uint32_t owner =
        queue.collapsed ? 0 : (queue.completions & queue.entries) != 0 ? 1 : 0;
    uint8_t *cqe = queue.cq + slot * 64;
    const uint32_t qpn = __builtin_bswap32(opcode << 24 | queue.qpn);
    memcpy(cqe + 0x38, &qpn, 4);
    const uint32_t tail = __builtin_bswap32(static_cast<uint32_t>(index & 0xffffu) << 16 | owner);
    // Everything that the WQE did is visible before its last word is.
    __atomic_store_n(reinterpret_cast<uint32_t *>(cqe + 0x3c), tail, __ATOMIC_RELEASE);
    ++queue.completions;
    return true;
  }

  const window local_;
  const window remote_;
  const uint64_t stride_;        // a power of two
  const uint32_t stride_shift_;
  const uint64_t turn_;
  std::vector<uint32_t> counts_;
  std::vector<nic_queue *> queues_;
};

}  // namespace bench

#endif  // DOORBELL_BENCH_NIC_H
