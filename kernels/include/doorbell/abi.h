// What host and kernels agree on: the structures that the host writes and kernels read, and back.
//
// This file is their only definition. The host's Java views (dev.doorbell.core.queue) are checked
// against it by a test. Everything is little-endian; addresses are as the GPU sees them. Plain C, so
// that any compiler can check the offsets.
#ifndef DOORBELL_ABI_H
#define DOORBELL_ABI_H

#include <stdint.h>

#define DOORBELL_ABI_VERSION 2

// doorbell_qp.flags
#define DOORBELL_QP_CQ_COLLAPSED 0x01u   // every CQE goes to entry 0
#define DOORBELL_QP_SCOPE_SYSTEM 0x02u   // order for the HCA at system scope; else GPU scope
#define DOORBELL_QP_RECORD_LAST 0x04u    // ring, write the record, ring again; else record first
#define DOORBELL_QP_BLUEFLAME 0x08u      // ring by storing the WQE to the register
#define DOORBELL_QP_CPU_RUNG 0x10u       // raise ring_request; the CPU writes record and doorbell
#define DOORBELL_QP_PROXY 0x20u          // hand commands to the CPU, which posts
#define DOORBELL_QP_EXCLUSIVE 0x40u      // one thread posts: nobody to wait for
#define DOORBELL_QP_CQ_RECORD 0x80u      // the HCA checks for overrun: pollers write cq_record
#define DOORBELL_QP_NO_RECORD 0x100u     // doorbells do not get lost: there is no record to write

// doorbell_qp.flags: what a signal needs to come behind the data before it on this HCA; none where writes
// are placed in order (order.cuh, docs/adapters.md). Of several, the first that a signal can be wins.
#define DOORBELL_QP_ORDER_PACK 0x200u    // a short message carries its signal in its last word; goes with another
#define DOORBELL_QP_ORDER_ATOMIC 0x400u  // a signal adds by an atomic instead of writing
#define DOORBELL_QP_ORDER_FLUSH 0x800u   // a READ goes before a signal, which waits for it
#define DOORBELL_QP_ORDER_FENCE 0x1000u  // a signal has the strong-ordering fence bit
#define DOORBELL_QP_ORDER_WAIT 0x2000u   // a signal is posted when what is before it is complete
#define DOORBELL_QP_QUIET_READ 0x4000u   // completed is not visible to everybody: a READ makes it so

// doorbell_qp.flags: work requests that are not mlx5's. `commands` has what they need beside this structure.
#define DOORBELL_QP_EFA 0x8000u          // the Elastic Fabric Adapter's: efa.cuh, struct doorbell_efa

// Status words: what device functions return and jobs end with.
#define DOORBELL_OK 0u
#define DOORBELL_ERROR_CQE 1u        // an error CQE; see the error record
#define DOORBELL_ERROR_DEADLINE 2u   // a wait did not end in time
#define DOORBELL_ERROR_ARGUMENT 3u   // the operation cannot be expressed (inline too long, size 0 ...)
#define DOORBELL_ERROR_DATA 4u       // received bytes were not the expected ones
#define DOORBELL_ERROR_POISONED 5u   // another thread met an error on this queue pair before

// What the posters of a queue pair share, each group alone on its line. Lies in GPU memory, and behind
// it one mark for each block of the send ring, uint64_t[sq_blocks]; the host zeroes all of it. Indices
// count 64-byte blocks of the send ring and do not wrap.
struct doorbell_counters {
  uint64_t reserved;  // next block to hand out, << DOORBELL_RESERVED_SHIFT; below that: how many
                      // reservations the holder of the baton has not dealt with. Bit 63:
                      // DOORBELL_RESERVED_BROKEN
  uint64_t reserved_pad[15];
  uint64_t poller;    // a thread looks at the completion queue for all who wait (a hint)
  uint64_t poller_pad[15];
  uint64_t rung;      // the highest index given to the HCA
  uint64_t blueflame; // WQEs stored to the BlueFlame register: the next half is its parity
  uint64_t rung_pad[14];
  uint64_t completed; // every block below is free again; at most half a ring behind `seen`
  uint64_t cq_index;  // CQEs consumed (ring CQ)
  uint64_t poison;    // the first DOORBELL_ERROR_* on this queue pair, or 0: waits end
  uint64_t seen;      // every block below is done, as lone posters found (collapsed CQ): no order
  uint64_t completed_pad[12];
};

// 2^20 reservations at a time, more than a GPU has threads; 2^43 blocks until the queue pair has to be
// reset, or is found broken.
#define DOORBELL_RESERVED_SHIFT 20u

// A poster that found no room in the ring sets this: its blocks were never written, nobody rings
// beyond them, and every later post ends with DOORBELL_ERROR_POISONED.
#define DOORBELL_RESERVED_BROKEN 0x8000000000000000ull

// The first error on a queue pair. Host-visible; all zero while there is none. The status is written
// last, with release semantics at system scope.
struct doorbell_error {
  uint32_t status;     // DOORBELL_ERROR_*
  uint32_t qpn;
  uint32_t syndrome;   // of the error CQE, or 0
  uint32_t vendor_syndrome;
  uint32_t wqe_index;  // 16 bits, of the error CQE
  uint32_t opcode;     // of the failed WQE
  uint64_t thread;     // linear index of the thread that saw it, over the whole grid
  uint64_t awaited;    // the index that was waited for
  uint64_t completed;  // the completed counter at that time
  uint64_t time_ns;    // %globaltimer
  uint64_t reserved;
};

// The descriptor of a queue of commands to the CPU; see doorbell/command_queue.cuh for the entries.
struct doorbell_command_queue {
  uint64_t ring;      // entries of 64 bytes, host memory
  uint64_t head;      // address of the producers' 64-bit counter, GPU memory
  uint64_t consumed;  // address of the consumer's 64-bit counter, host memory: entries below are free
  uint64_t finished;  // address of a 64-bit counter, host memory: commands below have completed
  uint32_t entries;   // a power of two
  uint32_t number;    // which queue this is, for messages
  uint64_t reserved[3];
};

// A queue pair as a kernel sees it. Written once by the host, read-only for kernels.
struct doorbell_qp {
  uint64_t sq_ring;       // send ring, 64-byte blocks
  uint64_t sq_record;     // the send counter's word of the doorbell record (byte 4 of it)
  uint64_t doorbell;      // the doorbell register; BlueFlame halves start here
  uint64_t cq_ring;       // completion ring, 64-byte entries
  uint64_t cq_record;     // consumer index word, big-endian
  uint64_t counters;      // struct doorbell_counters, then uint64_t[sq_blocks]
  uint64_t error;         // struct doorbell_error
  uint64_t commands;      // struct doorbell_command_queue or doorbell_efa, or 0
  uint64_t ring_request;  // 64-bit word that the CPU watches (DOORBELL_QP_CPU_RUNG), or 0
  uint64_t deadline_ns;   // every wait ends after this many nanoseconds
  uint32_t sq_blocks;     // a power of two
  uint32_t cq_entries;    // a power of two
  uint32_t qpn;
  uint32_t flags;         // DOORBELL_QP_*
  uint32_t blueflame_bytes;  // of one half, or 0
  uint32_t batch;         // who has rung for this many blocks may leave the rest to the next poster
  uint32_t max_inline;    // bytes
  uint32_t number;        // index among the queue pairs of the job
  uint64_t reserved[2];
};

// doorbell_job.path: where the payload lies when the HCA sends it.
#define DOORBELL_PATH_PULL 0u    // in GPU memory: the HCA reads it there
#define DOORBELL_PATH_INLINE 1u  // in the WQE
#define DOORBELL_PATH_STAGE 2u   // copied by the kernel to the staging area: on-chip or host memory

// doorbell_job.scope: who posts together.
#define DOORBELL_SCOPE_THREAD 0u
#define DOORBELL_SCOPE_WARP 1u
#define DOORBELL_SCOPE_BLOCK 2u

// What a protocol kernel is asked to do. Every protocol takes (const doorbell_qp *qps, const
// doorbell_job *job); fields that a protocol has no use for are ignored.
struct doorbell_job {
  uint64_t local;          // payload source
  uint64_t remote;         // payload target
  uint64_t bytes;          // of one message
  uint64_t iterations;     // measured messages (of every thread, where threads post independently)
  uint64_t warmup;         // messages before those
  uint64_t samples;        // uint64_t[iterations]: nanoseconds; or 0
  uint64_t status;         // uint32_t[threads]: DOORBELL_OK or DOORBELL_ERROR_*
  uint64_t inbox;          // where the peer's messages arrive (ping-pong), or 0
  uint64_t staging;        // staging area as the GPU sees it, or 0
  uint64_t staging_bytes;
  uint64_t staging_wire;   // its address in work requests
  uint64_t stamps;         // uint64_t[2]: globaltimer at first post, at last completion; or 0
  uint64_t stride;         // bytes from one thread's message to the next one's, local and remote
  uint64_t operand;        // atomics: add or swap value; immediate data
  uint64_t compare;        // compare-and-swap
  uint32_t local_key;      // lkey of local, as the WQE holds it after byte-swapping
  uint32_t remote_key;
  uint32_t staging_key;
  uint32_t path;           // DOORBELL_PATH_*
  uint32_t scope;          // DOORBELL_SCOPE_*
  uint32_t window;         // messages in flight (bandwidth, rate)
  uint32_t qp_count;
  uint32_t role;           // ping-pong: 0 starts, 1 answers; with peers: the rank
  uint32_t opcode;         // DOORBELL_OP_* for put_rate and the single-operation kernel
  uint32_t chunk_bytes;    // staging: bytes of one slot
  uint64_t signals;        // struct doorbell_signals, or 0
  uint64_t peers;          // struct doorbell_peer[qp_count], or 0
};

// Words that a protocol keeps beside its messages: credits, sequence numbers, what a barrier counts.
// All are zero at the start. A peer adds to them (put_signal, fetch_add) or writes them (put_value),
// and what an atomic fetches may land in them. A kernel has them whose descriptor says launch.signals.
struct doorbell_signals {
  uint64_t own;         // uint64_t[count] of this rank
  uint64_t remote;      // those of the peer
  uint32_t own_key;     // as the WQE holds it after byte-swapping
  uint32_t remote_key;
  uint32_t count;
  uint32_t reserved;
};

// Another rank, where more than two run at once (launch.ranks: all). There are qp_count ranks: queue pair
// p leads to rank p, and peers[p] says how its work requests name that rank's memory. None leads to the
// rank itself: its place among the queue pairs is zero, and peers[role] is for its own work requests.
struct doorbell_peer {
  uint64_t inbox;        // a message of each rank, one every stride, by rank
  uint64_t signals;      // uint64_t[doorbell_signals.count], or 0
  uint32_t inbox_key;    // as the WQE holds it after byte-swapping
  uint32_t signals_key;
  uint64_t reserved;
};

// doorbell_job.opcode
#define DOORBELL_OP_PUT 0u
#define DOORBELL_OP_PUT_IMM 1u
#define DOORBELL_OP_GET 2u
#define DOORBELL_OP_PUT_INLINE 3u
#define DOORBELL_OP_FETCH_ADD 4u
#define DOORBELL_OP_COMPARE_SWAP 5u
#define DOORBELL_OP_PUT_SIGNAL 6u  // put, then fetch-add of operand on an 8-byte word behind it

// One entry of the list that the protocol `operations` executes. doorbell_job.local points to
// doorbell_operation[threads][iterations].
struct doorbell_operation {
  uint64_t local;       // payload source, or where fetched data lands
  uint64_t remote;      // target
  uint64_t bytes;       // of the payload; atomics: ignored
  uint64_t operand;     // atomics: add or swap value; put signal: add value; immediate data
  uint64_t compare;     // compare-and-swap
  uint64_t signal;      // put signal: address of the remote 8-byte word
  uint64_t fetched;     // put signal: where the word's old value lands, under local_key
  uint32_t local_key;   // as the WQE holds it after byte-swapping
  uint32_t remote_key;
  uint32_t opcode;      // DOORBELL_OP_*
  uint32_t queue_pair;  // index among the job's
  uint32_t flags;       // DOORBELL_OPERATION_*
  uint32_t reserved;
};

// doorbell_operation.flags
#define DOORBELL_OPERATION_WAIT 0x01u  // wait for its completion before the next one

#endif  // DOORBELL_ABI_H
