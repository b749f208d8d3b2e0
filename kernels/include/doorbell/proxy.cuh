// The same operations, posted by the CPU: requests become commands of the queue that the CPU reads.
//
// Chosen by DOORBELL_QP_PROXY of the queue pair, at run time: one kernel serves both ways. Tickets are
// counts of commands then, and waiting reads the CPU's counter. All of it is out of line: a queue pair
// that posts by itself pays one test for it.
#ifndef DOORBELL_PROXY_CUH
#define DOORBELL_PROXY_CUH

#include "doorbell/command_queue.cuh"
#include "doorbell/wqe.cuh"

namespace doorbell {

namespace detail {

__device__ __forceinline__ const doorbell_command_queue *commands_of(const doorbell_qp *qp) {
  return reinterpret_cast<const doorbell_command_queue *>(qp->commands);
}

// A command holds less inline payload than a WQE: a longer one goes in pieces, which arrive in order
// and are done when the last one is.
__device__ __forceinline__ command_ticket submit_inline(const doorbell_qp *qp,
                                                        const work_request &request) {
  command_ticket last{0, DOORBELL_OK};
  uint32_t at = 0;
#pragma unroll 1
  while (at < request.bytes && last.status == DOORBELL_OK) {
    command piece;
    uint64_t words[3];
#pragma unroll
    for (uint32_t i = 0; i < 3; ++i) {
      const uint32_t word = at / 4 + i * 2;
      words[i] = inline_word(request.payload, request.bytes, request.local, request.operand,
                             request.compare, word) |
                 static_cast<uint64_t>(inline_word(request.payload, request.bytes, request.local,
                                                   request.operand, request.compare, word + 1))
                     << 32;
    }
    piece.opcode = DOORBELL_OP_PUT_INLINE;
    piece.queue_pair = static_cast<uint16_t>(qp->number);
    piece.remote_address = request.remote + at;
    piece.remote_key = request.remote_key;
    piece.local_address = words[0];
    piece.operand = words[1];
    piece.compare = words[2];
    const uint32_t left = request.bytes - at;
    piece.length = left < DOORBELL_COMMAND_INLINE_BYTES ? left : DOORBELL_COMMAND_INLINE_BYTES;
    last = command_submit(commands_of(qp), piece, qp->deadline_ns, false);
    at += DOORBELL_COMMAND_INLINE_BYTES;
  }
  return last;
}

__device__ __forceinline__ uint8_t command_opcode(const work_request &request) {
  switch (request.opcode) {
    case kOpcodeWrite:
      return DOORBELL_OP_PUT;
    case kOpcodeWriteImm:
      return DOORBELL_OP_PUT_IMM;
    case kOpcodeRead:
      return DOORBELL_OP_GET;
    case kOpcodeFetchAdd:
      return DOORBELL_OP_FETCH_ADD;
    case kOpcodeCompareSwap:
      return DOORBELL_OP_COMPARE_SWAP;
    default:
      return DOORBELL_COMMAND_NOP;
  }
}

__device__ __forceinline__ command command_of(const doorbell_qp *qp, const work_request &request) {
  command whole;
  whole.opcode = command_opcode(request);
  whole.queue_pair = static_cast<uint16_t>(qp->number);
  whole.remote_address = request.remote;
  whole.remote_key = request.remote_key;
  whole.local_address = request.local;
  whole.local_key = request.local_key;
  whole.length = request.bytes;
  whole.operand = request.operand;
  whole.compare = request.compare;
  whole.immediate = request.immediate;
  return whole;
}

}  // namespace detail

// Submits one request to the CPU, or a put and the fetch-add behind it. The ticket counts commands.
inline __device__ __noinline__ posted submit_to_cpu(const doorbell_qp *qp, work_request first,
                                                    work_request second, uint32_t count) {
  command_ticket ticket;
  if (first.is_inline()) {
    ticket = detail::submit_inline(qp, first);
    if (count == 2 && ticket.status == DOORBELL_OK) {
      ticket = command_submit(detail::commands_of(qp), detail::command_of(qp, second),
                              qp->deadline_ns, false);
    }
  } else {
    command whole = detail::command_of(qp, first);
    bool sends = whole.opcode == DOORBELL_OP_PUT || whole.opcode == DOORBELL_OP_PUT_IMM;
    if (count == 2) {
      if (second.local_key == first.local_key) {
        sends = true;
        whole.opcode = DOORBELL_OP_PUT_SIGNAL;
        whole.operand = second.operand;
        whole.compare = second.remote;
        whole.immediate = second.remote_key;
        whole.fetched = second.local;
      } else {
        // A command has one local key. The put precedes in a command of its own; commands of other
        // threads in between are harmless.
        ticket = command_submit(detail::commands_of(qp), whole, qp->deadline_ns, sends);
        if (ticket.status != DOORBELL_OK) {
          return {ticket.status, ticket.index + 1};
        }
        whole = detail::command_of(qp, second);
        sends = false;
      }
    }
    ticket = command_submit(detail::commands_of(qp), whole, qp->deadline_ns, sends);
  }
  return {ticket.status, ticket.index + 1};
}

inline __device__ __noinline__ uint32_t wait_for_cpu(const doorbell_qp *qp, uint64_t ticket) {
  return ticket == 0 ? DOORBELL_OK
                     : command_wait(qp, detail::commands_of(qp), ticket - 1, qp->deadline_ns);
}

inline __device__ __noinline__ uint32_t quiet_for_cpu(const doorbell_qp *qp) {
  return command_quiet(qp, detail::commands_of(qp), qp->deadline_ns);
}

}  // namespace doorbell

#endif  // DOORBELL_PROXY_CUH
