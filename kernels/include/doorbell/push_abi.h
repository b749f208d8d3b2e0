// What the host and the HCA agree on with kernels that push: the ring in on-chip memory, its credits
// and its counters. The protocol is in doorbell/push.cuh and docs/push.md.
//
// This file is their only definition; the host's Java views (dev.doorbell.core.push.PushRingView and
// PushHeader) are checked against it by a test. Everything is little-endian. Plain C.
#ifndef DOORBELL_PUSH_ABI_H
#define DOORBELL_PUSH_ABI_H

#include <stdint.h>

// doorbell_push_header.flags
#define DOORBELL_PUSH_STAGED 0x1u   // the payload lies in the slot; else the HCA reads it at local
#define DOORBELL_PUSH_CHECKED 0x2u  // checksum is meant

// doorbell_job.opcode of the protocols push_*: what to do differently.
#define DOORBELL_PUSH_LOSSY 0x1u          // a message that finds the ring full is dropped
#define DOORBELL_PUSH_CHECKSUMS 0x2u      // every message carries the sum of its words
#define DOORBELL_PUSH_NO_CREDITS 0x100u   // mistake: do not wait for room
#define DOORBELL_PUSH_NO_FENCE 0x200u     // mistake: nothing orders payload before doorbell
#define DOORBELL_PUSH_NO_FLUSH 0x400u     // mistake: leave the last doorbell of a burst out

// One message, as the producer commits it. Lies in on-chip memory.
struct doorbell_push_header {
  uint64_t index;        // of the message in its ring, from 0; does not wrap
  uint64_t local;        // the payload in GPU memory, which stays as it is until acknowledged
  uint64_t remote;       // where it goes
  uint32_t bytes;
  uint32_t destination;  // number of the peer
  uint32_t checksum;     // sum of the payload's 32-bit words, modulo 2^32
  uint32_t flags;        // DOORBELL_PUSH_STAGED, DOORBELL_PUSH_CHECKED
  uint32_t phase;        // 1 + index / entries, its last bit: zeroed memory is no header
  uint32_t seal;         // sum of the words before it, and 1: the header is here whole
  uint32_t reserved[4];
};

// What the HCA gives back. Lies in GPU memory; the HCA writes both words at once, and again later, so
// that a lost write is made up for. Absolute indices: duplicates and old values do no harm.
struct doorbell_push_credit {
  uint64_t released;      // slots of messages below may be filled again
  uint64_t acknowledged;  // messages below have arrived: their local memory may change
};

// The producers' own counters. Lies in GPU memory; nobody but the producers writes it.
struct doorbell_push_counters {
  uint64_t reserved;  // next message to fill
  uint64_t seen;      // the highest credit read: messages below are released
  uint64_t rung;      // the last doorbell
  uint64_t dropped;   // messages that found the ring full (DOORBELL_PUSH_LOSSY)
  uint64_t pulled;    // messages that went with a header only
  uint64_t committed; // of several producers: messages below are committed
};

// A ring as a kernel sees it. Written once by the host, read-only for kernels. One block pushes to it,
// or several with the class shared_push_ring.
struct doorbell_push_ring {
  uint64_t headers;      // doorbell_push_header[entries], on-chip
  uint64_t payload;      // slots, on-chip
  uint64_t record;       // the committed index, on-chip: the truth when a doorbell is torn
  uint64_t doorbell;     // register: the committed index, 8 bytes
  uint64_t credit;       // struct doorbell_push_credit
  uint64_t counters;     // struct doorbell_push_counters
  uint64_t deadline_ns;  // every wait ends after this many nanoseconds
  uint32_t entries;      // a power of two: messages in the ring
  uint32_t slots;        // at most entries: messages with payload in the ring; the others are pulled
  uint32_t slot_bytes;   // a multiple of 16
  uint32_t batch;        // messages to a doorbell
  uint32_t number;
  uint32_t destinations;  // message n goes to peer n modulo this, counted from first_destination
  uint32_t first_destination;
  uint32_t reserved[3];
};

#endif  // DOORBELL_PUSH_ABI_H
