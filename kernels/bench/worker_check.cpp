// worker_check: proxy_worker.h on CPUs alone. A thread fills rings as a kernel does, a worker posts what is in
// them, and the HCA of nic.h executes and checks every WQE. Ends with 0 when all is right.
//
//   g++ -O2 -std=c++17 -pthread -Ibench bench/worker_check.cpp -o worker_check   # in kernels/
#include <stdio.h>
#include <stdlib.h>

#include <chrono>
#include <random>
#include <thread>

#include "nic.h"
#include "proxy_worker.h"

using namespace bench;

namespace {

// The words of the entry that a kernel would store for a put of `bytes` at `offset` of either region.
void encode(const command_ring &ring, uint64_t index, uint64_t offset, uint32_t bytes, uint64_t *words) {
  const uint64_t phase = (index & (uint64_t{ring.mask} + 1)) == 0 ? 1 : 0;
  const uint32_t count = static_cast<uint32_t>(ring.layout);
  for (uint32_t i = 0; i < count; ++i) {
    words[i] = phase;
  }
  words[0] |= uint64_t{bytes} << 1;
  switch (ring.layout) {
    case entry_layout::kShort:
      words[0] |= (offset & 1) << 32;
      words[1] |= offset << 32 | (offset & 0xfffffffe);
      break;
    case entry_layout::kFull: {
      const uint64_t to = ring.remote + offset, from = ring.local + offset;
      words[1] |= to & ~uint64_t{1};
      words[2] |= from & ~uint64_t{1};
      words[5] |= uint64_t{ring.remote_key} << 32 | (to & 1) << 1 | (from & 1) << 2;
      words[6] |= uint64_t{ring.local_key} << 32;
      words[7] |= (index & 0x1ffffff) << 7;
      break;
    }
    case entry_layout::kWide:
      words[1] |= offset << 1;
      words[3] |= offset << 1;
      words[15] |= index << 1;
      break;
  }
}

bool run(entry_layout layout, uint32_t rings, uint32_t queues, uint32_t entries, uint32_t batch,
         bool adaptive, uint32_t in_flight, uint64_t turn, uint64_t seed) {
  constexpr uint64_t kStride = 64, kEach = 300;
  constexpr uint32_t kBlocks = 64;
  const uint64_t area = rings * kStride;
  std::vector<uint8_t> local(area), remote(area);
  std::mt19937_64 random(seed);
  for (uint8_t &byte : local) {
    byte = static_cast<uint8_t>(random());
  }
  struct alignas(64) line {
    uint8_t bytes[64];
  };
  std::vector<line> memory(uint64_t{rings} * (entries * 2 + 8) + uint64_t{queues} * (kBlocks + 16));
  uint8_t *free = memory.data()->bytes;
  const auto allocate = [&](uint64_t bytes) {
    uint8_t *here = free;
    free += (bytes + 63) / 64 * 64;
    return here;
  };
  nic hca({local.data(), area}, {remote.data(), area}, kStride, rings, turn);
  proxy_worker worker(batch, adaptive, in_flight);
  std::vector<send_queue> sends(queues);
  std::vector<nic_queue> answers(queues);
  for (uint32_t q = 0; q < queues; ++q) {
    sends[q].ring = allocate(kBlocks * 64);
    sends[q].record = reinterpret_cast<uint32_t *>(allocate(64));
    sends[q].doorbell = reinterpret_cast<uint64_t *>(allocate(64));
    uint8_t *cqe = allocate(64);
    memset(cqe, 0xff, 64);
    sends[q].cqe = cqe;
    sends[q].blocks = kBlocks;
    sends[q].qpn = 0x100 + q;
    answers[q].ring = sends[q].ring;
    answers[q].doorbell = sends[q].doorbell;
    answers[q].record = sends[q].record;
    answers[q].record_first = true;
    answers[q].cq = cqe;
    answers[q].blocks = kBlocks;
    answers[q].entries = 1;
    answers[q].collapsed = true;
    answers[q].qpn = sends[q].qpn;
    hca.add(&answers[q]);
  }
  std::vector<command_ring> all(rings);
  for (uint32_t r = 0; r < rings; ++r) {
    all[r].entries = reinterpret_cast<uint64_t *>(allocate(entries * static_cast<uint32_t>(layout) * 8));
    all[r].consumed = reinterpret_cast<uint64_t *>(allocate(64));
    all[r].finished = reinterpret_cast<uint64_t *>(allocate(64));
    all[r].mask = entries - 1;
    all[r].layout = layout;
    all[r].local = reinterpret_cast<uint64_t>(local.data());
    all[r].remote = reinterpret_cast<uint64_t>(remote.data());
    all[r].local_key = kLocalKey;
    all[r].remote_key = kRemoteKey;
    worker.add(&all[r], &sends[r % queues]);
  }
  std::atomic<bool> stop{false};
  std::thread answering([&] { hca.run(stop); });
  std::thread posting([&] { worker.run(stop); });
  std::vector<uint64_t> next(rings);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  bool late = false;
  for (uint64_t left = rings * kEach; left > 0 && !late;) {
    bool stored = false;
    for (uint32_t r = 0; r < rings; ++r) {
      const uint64_t consumed = __atomic_load_n(all[r].consumed, __ATOMIC_ACQUIRE);
      if (next[r] == kEach || next[r] - consumed >= entries) {
        continue;
      }
      uint64_t words[16];
      encode(all[r], next[r], r * kStride, 8 + (r % 4) * 8, words);
      uint64_t *to = const_cast<uint64_t *>(all[r].entries) +
                     (next[r] & all[r].mask) * static_cast<uint32_t>(layout);
      for (uint32_t i = static_cast<uint32_t>(layout); i-- > 0;) {  // in any order
        __atomic_store_n(to + i, words[i], __ATOMIC_RELEASE);
      }
      ++next[r];
      --left;
      stored = true;
    }
    if (!stored) {
      std::this_thread::yield();
      late = std::chrono::steady_clock::now() > until;
    }
  }
  for (uint32_t r = 0; r < rings && !late; ++r) {
    while (!late && __atomic_load_n(all[r].finished, __ATOMIC_ACQUIRE) != kEach) {
      std::this_thread::yield();
      late = std::chrono::steady_clock::now() > until;
    }
  }
  stop = true;
  answering.join();
  posting.join();
  std::string wrong = late ? "not done within a minute; " : "";
  wrong += hca.fault + worker.fault;
  for (uint32_t r = 0; r < rings && wrong.empty(); ++r) {
    if (hca.counts()[r] != kEach) {
      wrong = "ring " + std::to_string(r) + " was put " + std::to_string(hca.counts()[r]) + " times";
    } else if (memcmp(&local[r * kStride], &remote[r * kStride], 8 + (r % 4) * 8) != 0) {
      wrong = "ring " + std::to_string(r) + " has other bytes than it should";
    }
  }
  if (!wrong.empty()) {
    printf("FAULT %u words, %u rings, %u queue pairs, %u entries, batch %u%s, %u in flight: %s\n",
           static_cast<uint32_t>(layout), rings, queues, entries, batch, adaptive ? " adaptive" : "",
           in_flight, wrong.c_str());
  }
  return wrong.empty();
}

}  // namespace

int main() {
  bool good = true;
  for (entry_layout layout : {entry_layout::kShort, entry_layout::kFull, entry_layout::kWide}) {
    good = run(layout, 1, 1, 2, 1, false, 64, UINT64_MAX, 1) && good;
    good = run(layout, 5, 2, 16, 4, false, 64, 1, 2) && good;
    good = run(layout, 8, 3, 64, 16, true, 5, UINT64_MAX, 3) && good;
  }
  printf("%s\n", good ? "right" : "wrong");
  return good ? 0 : 1;
}
