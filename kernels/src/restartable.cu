// restartable: lists of operations that go on after a failure, or in another mode of posting.
//
// Launch     any grid. Each thread executes a list of its own.
// Job        local: address of doorbell_operation[threads][iterations]; inbox: address of
//            doorbell_safe_point; iterations, window; samples: uint64_t[threads][iterations], when an
//            operation was posted (%globaltimer), or 0; stamps; compare: how many nanoseconds to wait
//            for the host at a safe point. All operations go to queue pair 0.
// Order      that of the library; what a thread posted before a safe point is done before what it
//            posts after it. DOORBELL_OPERATION_WAIT: done before the thread's next operation.
// Window     at most that many operations of a thread are in flight; 0: as many as the ring holds.
// Who else   all threads of the grid post to the queue pair; the host changes it at the safe point.
// Status     the first error that the host could not get over. An operation that cannot be expressed
//            ends the thread's list.
#include "doorbell/safe_point.cuh"
#include "protocol.cuh"

using namespace doorbell;

extern "C" __global__ void restartable(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  const uint64_t thread = thread_index();
  const doorbell_operation *list =
      reinterpret_cast<const doorbell_operation *>(job.local) + thread * job.iterations;
  uint64_t *times = reinterpret_cast<uint64_t *>(job.samples) + thread * job.iterations;
  safe_point point(job.inbox, thread);
  protocol::stamp_start(job, global_time());

  uint64_t next = 0;
  bool ended = false;
  uint32_t status = DOORBELL_OK;
  while (status == DOORBELL_OK && !ended) {
    // One epoch: a window and a queue pair of its own.
    protocol::window window(job);
    const queue_pair qp(&qps[0]);
    while (status == DOORBELL_OK && !ended && !point.is_wanted()) {
      if (next == job.iterations) {
        status = quiet(qp);
        ended = status == DOORBELL_OK;
        continue;
      }
      const doorbell_operation operation = list[next];
      const posted sent = post(
          qp, protocol::request_of(operation.opcode, {operation.remote, operation.remote_key},
                                   {operation.local, operation.local_key}, operation.bytes,
                                   operation.operand, operation.compare, operation.signal,
                                   operation.fetched));
      status = sent.status;
      if (status != DOORBELL_OK) {
        continue;
      }
      if (job.samples != 0) {
        times[next] = global_time();
      }
      point.posted(++next);
      status = (operation.flags & DOORBELL_OPERATION_WAIT) != 0 ? wait(qp, sent.ticket)
                                                                : window.admit<by::thread>(qp, sent);
    }
    if (!ended && status != DOORBELL_ERROR_ARGUMENT) {
      status = point.cross(status != DOORBELL_OK, job.compare);
    }
  }
  point.leave();
  protocol::stamp_end(job, global_time());
  protocol::report(job, status);
}
