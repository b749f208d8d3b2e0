// A stand-in for a library that Doorbell has no adapter for, for tests: its structures are laid out by the descriptor
// beside this file.
#pragma once

#include <stdint.h>

// A queue of one poster, with its counter elsewhere.
struct ring_queue {
  uint64_t *next;
  uint8_t *ring;
  uint16_t mask;
  uint8_t spare[6];
  uint32_t number;
  uint32_t *record;
  uint64_t *doorbell;
  uint8_t *completions;
  uint32_t completion_mask;
};

// What the library's host code leaves in constant memory.
struct ring_state {
  uint32_t version;
  uint32_t ranks;
  ring_queue *queues;
  uint64_t heaps[2];
  uint32_t rkeys[2];
};

// A region, handed over by value.
struct ring_region {
  uint64_t address;
  uint64_t bytes;
  uint32_t lkey;
};

extern "C" {
__constant__ ring_state ring_state_d;
}

static __device__ void ring_wait(const ring_queue *queue, uint64_t index) {
  const uint8_t pass = (index & (queue->completion_mask + 1u)) != 0;
  volatile uint8_t *owner = queue->completions + (index & queue->completion_mask) * 64 + 63;
  uint8_t found;
  do {
    found = *owner;
  } while ((found >> 4) == 15 || (found & 1) != pass);
  __threadfence_system();
}

// One thread writes a region to where rank `peer` has its own one.
static __device__ uint64_t ring_put(const ring_region &from, uint32_t peer) {
  const ring_queue *queue = &ring_state_d.queues[0];
  const uint64_t index = (*queue->next)++;
  if (index > queue->mask) {
    ring_wait(queue, index - queue->mask - 1);
  }
  uint32_t *wqe = reinterpret_cast<uint32_t *>(queue->ring + (index & queue->mask) * 64);
  const uint64_t to = ring_state_d.heaps[peer];
  wqe[0] = __byte_perm(uint32_t(index & 0xffff) << 8 | 0x08, 0, 0x0123);
  wqe[1] = __byte_perm(queue->number << 8 | 3, 0, 0x0123);
  wqe[2] = 0x08000000;
  wqe[3] = 0;
  wqe[4] = __byte_perm(uint32_t(to >> 32), 0, 0x0123);
  wqe[5] = __byte_perm(uint32_t(to), 0, 0x0123);
  wqe[6] = ring_state_d.rkeys[peer];
  wqe[7] = 0;
  wqe[8] = __byte_perm(uint32_t(from.bytes), 0, 0x0123);
  wqe[9] = __byte_perm(from.lkey, 0, 0x0123);
  wqe[10] = __byte_perm(uint32_t(from.address >> 32), 0, 0x0123);
  wqe[11] = __byte_perm(uint32_t(from.address), 0, 0x0123);
  __threadfence_system();
  *const_cast<volatile uint32_t *>(queue->record) = __byte_perm(uint32_t(index + 1) & 0xffff, 0, 0x0123);
  __threadfence_system();
  const uint32_t first = __byte_perm(uint32_t(index + 1) << 8, 0, 0x0123);
  *const_cast<volatile uint64_t *>(queue->doorbell) = uint64_t(__byte_perm(queue->number << 8, 0, 0x0123)) << 32 | first;
  return index;
}
