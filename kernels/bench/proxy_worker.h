// A CPU thread that takes puts out of rings of commands and posts them: what a proxy is made of, with
// nothing else around it. Entries are those of doorbell/handoff.cuh, command_queue.cuh and
// handoff_family.cuh; WQEs are mlx5's, of one block each.
//
// A worker owns its rings and its queue pairs: nobody else reads a ring's entries or rings a doorbell.
#ifndef DOORBELL_BENCH_PROXY_WORKER_H
#define DOORBELL_BENCH_PROXY_WORKER_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include <atomic>
#include <string>
#include <vector>

namespace bench {

// What the entries of a ring look like.
enum class entry_layout : uint32_t { kShort = 2, kFull = 8, kWide = 16 };  // 64-bit words

// A ring of commands as its worker sees it. No two share a line.
struct alignas(256) command_ring {
  const uint64_t *entries;
  uint64_t *consumed;  // counters that producers read
  uint64_t *finished;
  uint32_t mask;
  entry_layout layout;
  uint64_t local, remote;  // where the regions of offsets begin
  uint32_t local_key, remote_key;

  uint64_t next = 0;
  uint64_t published = 0;
  uint64_t done = 0;
  uint32_t limit = 1;  // commands of the next round
};

// The send side of a queue pair as a worker sees it.
struct alignas(256) send_queue {
  uint8_t *ring;
  uint32_t *record;
  uint64_t *doorbell;
  const uint8_t *cqe;  // collapsed
  uint32_t blocks;
  uint32_t qpn;

  uint64_t head = 0;
  uint64_t completed = 0;
  uint64_t doorbells = 0;

  struct chain {
    uint64_t end;  // behind its last WQE
    command_ring *from;
    uint32_t count;
  };
  std::vector<chain> chains;  // a ring of chains, as many as there are blocks
  uint64_t first_chain = 0, last_chain = 0;
};

class alignas(256) proxy_worker {
 public:
  // most: puts of a chain. adaptive: fewer while fewer are there. in_flight: WQEs of a queue pair.
  proxy_worker(uint32_t most, bool adaptive, uint32_t in_flight)
      : most_(most), adaptive_(adaptive), in_flight_(in_flight) {}

  // The ring's puts go to that queue pair, which may have those of other rings of this worker.
  void add(command_ring *ring, send_queue *queue) {
    ring->limit = adaptive_ ? 1 : most_;
    served_.push_back({ring, queue});
    for (const send_queue *known : queues_) {
      if (known == queue) {
        return;
      }
    }
    queue->chains.resize(queue->blocks);
    queues_.push_back(queue);
  }

  // Serves until told to stop.
  void run(const std::atomic<bool> &stop) {
    while (!stop.load(std::memory_order_relaxed) && fault.empty()) {
      bool idle = true;
      for (const served &one : served_) {
        if (take(*one.ring, *one.queue)) {
          idle = false;
        }
      }
      for (send_queue *queue : queues_) {
        if (complete(*queue)) {
          idle = false;
        }
      }
      ++rounds;
      if (idle) {
        _mm_pause();
      }
    }
  }

  std::string fault;
  uint64_t rounds = 0;

 private:
  struct served {
    command_ring *ring;
    send_queue *queue;
  };

  struct put {
    uint64_t remote, local;
    uint32_t bytes, remote_key, local_key;
  };

  static constexpr uint32_t kPut = 0;  // DOORBELL_OP_PUT

  // Whether the entry at ring.next is there; then it is read.
  bool read(const command_ring &ring, put &out) {
    const uint32_t words = static_cast<uint32_t>(ring.layout);
    const uint64_t *entry = ring.entries + (ring.next & ring.mask) * words;
    const uint64_t phase = (ring.next & (uint64_t{ring.mask} + 1)) == 0 ? 1 : 0;
    uint64_t w[16] = {};
    uint64_t differs = 0;
    for (uint32_t i = 0; i < words; ++i) {
      w[i] = __atomic_load_n(entry + i, __ATOMIC_ACQUIRE);
      differs |= w[i] ^ phase;
      if (i == 1 && (differs & 1) != 0) {
        return false;
      }
    }
    if ((differs & 1) != 0) {
      return false;
    }
    out.bytes = static_cast<uint32_t>(w[0]) >> 1;
    out.remote_key = ring.remote_key;
    out.local_key = ring.local_key;
    uint64_t index = ring.next;
    switch (ring.layout) {
      case entry_layout::kShort:
        out.remote = ring.remote + (w[1] >> 32);
        out.local = ring.local + ((w[1] & 0xfffffffe) | (w[0] >> 32 & 1));
        break;
      case entry_layout::kFull:
        out.remote = (w[1] & ~uint64_t{1}) | (w[5] >> 1 & 1);
        out.local = (w[2] & ~uint64_t{1}) | (w[5] >> 2 & 1);
        out.remote_key = static_cast<uint32_t>(w[5] >> 32);
        out.local_key = static_cast<uint32_t>(w[6] >> 32);
        index = (w[7] >> 7 & 0x1ffffff) | (ring.next & ~uint64_t{0x1ffffff});
        break;
      case entry_layout::kWide:
        out.remote = ring.remote + (w[1] >> 1);
        out.local = ring.local + (w[3] >> 1);
        index = w[15] >> 1;
        break;
    }
    if (w[0] >> 56 != kPut || index != ring.next) {
      fault = "entry " + std::to_string(ring.next) + " is not the put that belongs there";
      return false;
    }
    return true;
  }

  static void write(const send_queue &queue, const put &what, bool asks) {
    struct {
      uint32_t control, qpn_units, flags, immediate;
      uint64_t remote;
      uint32_t remote_key, reserved, bytes, local_key;
      uint64_t local;
    } wqe = {__builtin_bswap32(static_cast<uint32_t>(queue.head & 0xffff) << 8 | 0x08u),
             __builtin_bswap32(queue.qpn << 8 | 3u),
             asks ? 0x08000000u : 0,
             0,
             __builtin_bswap64(what.remote),
             what.remote_key,
             0,
             __builtin_bswap32(what.bytes),
             what.local_key,
             __builtin_bswap64(what.local)};
    memcpy(queue.ring + (queue.head & (queue.blocks - 1)) * 64, &wqe, sizeof wqe);
  }

  // Posts a chain of what is in a ring; true when there was something.
  bool take(command_ring &ring, send_queue &queue) {
    const uint64_t used = queue.head - queue.completed;
    const uint64_t room = in_flight_ > used ? in_flight_ - used : 0;
    const uint32_t limit = ring.limit < room ? ring.limit : static_cast<uint32_t>(room);
    uint32_t count = 0;
    put next;
    const uint64_t line = (ring.next & ring.mask) * static_cast<uint32_t>(ring.layout);
    _mm_prefetch(reinterpret_cast<const char *>(ring.entries + line) + 64, _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char *>(ring.entries + line) + 128, _MM_HINT_T0);
    if (limit != 0 && read(ring, next)) {
      for (;;) {
        ++ring.next;
        ++count;
        put following;
        const bool more = count < limit && read(ring, following);
        write(queue, next, !more);
        ++queue.head;
        if (!more) {
          break;
        }
        next = following;
      }
      __atomic_store_n(queue.record, __builtin_bswap32(static_cast<uint32_t>(queue.head)),
                       __ATOMIC_RELEASE);
      const uint64_t doorbell =
          static_cast<uint64_t>(__builtin_bswap32(queue.qpn << 8)) << 32 |
          __builtin_bswap32(static_cast<uint32_t>(queue.head & 0xffff) << 8);
      __atomic_store_n(queue.doorbell, doorbell, __ATOMIC_RELEASE);
      ++queue.doorbells;
      queue.chains[queue.last_chain++ & (queue.blocks - 1)] = {queue.head, &ring, count};
      ring.published = ring.next;
      __atomic_store_n(ring.consumed, ring.next, __ATOMIC_RELEASE);
    }
    if (adaptive_ && room != 0) {
      if (count >= ring.limit) {
        ring.limit = ring.limit * 2 < most_ ? ring.limit * 2 : most_;
      } else if (count < ring.limit / 2) {
        ring.limit /= 2;
      }
    }
    return count != 0;
  }

  // Takes what the HCA has completed; true when there was something.
  static bool complete(send_queue &queue) {
    if (queue.completed == queue.head) {
      return false;
    }
    const uint32_t tail = __builtin_bswap32(
        __atomic_load_n(reinterpret_cast<const uint32_t *>(queue.cqe + 0x3c), __ATOMIC_ACQUIRE));
    const uint32_t done = ((tail >> 16) + 1 - static_cast<uint32_t>(queue.completed)) & 0xffffu;
    if ((tail & 0xf1u) != 0 || done == 0 || done > queue.head - queue.completed) {
      return false;
    }
    queue.completed += done;
    while (queue.first_chain != queue.last_chain) {
      const send_queue::chain &chain = queue.chains[queue.first_chain & (queue.blocks - 1)];
      if (chain.end > queue.completed) {
        break;
      }
      chain.from->done += chain.count;
      __atomic_store_n(chain.from->finished, chain.from->done, __ATOMIC_RELEASE);
      ++queue.first_chain;
    }
    return true;
  }

  const uint32_t most_;
  const bool adaptive_;
  const uint32_t in_flight_;
  std::vector<served> served_;
  std::vector<send_queue *> queues_;
};

// An HCA that completes what it is rung for, and looks at nothing else.
class alignas(256) completing_nic {
 public:
  struct alignas(256) queue {
    const uint64_t *doorbell;
    uint8_t *cqe;
    uint64_t seen = 0;
    uint64_t completions = 0;
  };

  void add(queue *one) { queues_.push_back(one); }

  void run(const std::atomic<bool> &stop) {
    while (!stop.load(std::memory_order_relaxed)) {
      bool idle = true;
      for (queue *one : queues_) {
        const uint64_t rung = __atomic_load_n(one->doorbell, __ATOMIC_ACQUIRE);
        if (rung == one->seen) {
          continue;
        }
        one->seen = rung;
        ++one->completions;
        const uint32_t index = __builtin_bswap32(static_cast<uint32_t>(rung)) >> 8;
        const uint32_t tail = __builtin_bswap32(((index - 1) & 0xffffu) << 16);
        __atomic_store_n(reinterpret_cast<uint32_t *>(one->cqe + 0x3c), tail, __ATOMIC_RELEASE);
        idle = false;
      }
      if (idle) {
        _mm_pause();
      }
    }
  }

 private:
  std::vector<queue *> queues_;
};

}  // namespace bench

#endif  // DOORBELL_BENCH_PROXY_WORKER_H
