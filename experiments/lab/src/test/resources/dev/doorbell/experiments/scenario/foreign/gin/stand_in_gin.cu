// Puts by the stand-in for GIN beside this file. Compile it with
//
//   ./doorbell kernel build FOLDER --api gin --include FOLDER --include FOLDER/../gpunetio
//
// after a change of either, or of kernels/include/doorbell/api.
extern "C" __global__ void stand_in_gin(ncclGinGdakiGPUContext *contexts, uint64_t local, uint64_t remote, uint32_t bytes,
                                        uint32_t iterations, uint32_t count, const uint64_t *signals, uint64_t *stamps,
                                        uint32_t *status) {
  const ncclGinGdakiMemHandle *window = reinterpret_cast<const ncclGinGdakiMemHandle *>(contexts + count);
  const int peer = 1;
  // From the sink to the peer's signal word: a wrong key of either ends the queue pair before the first message.
  stand_in_wait(contexts[0].gdqp + peer, stand_in_put(contexts[0].gdqp + peer, signals[1], window[1].rkeys[peer], 0,
                                                      contexts[0].sink_buffer_lkey, 8));
  // The same to the word that a number names; its table begins with the own words.
  const stand_in_table *table = &contexts[0].signals_table;
  stand_in_wait(contexts[0].gdqp + peer, stand_in_put(contexts[0].gdqp + peer, 8ull * (0 + table->offset), table->rkeys[peer],
                                                      0, contexts[0].sink_buffer_lkey, 8));
  if (reinterpret_cast<uint64_t>(table->buffer) != signals[0]) {
    status[0] = 1;
    return;
  }
  // A counter that says that the put before it is done: on the companion, a WAIT for its completion, and an atomic.
  const stand_in_table *counters = &contexts[0].counters_table;
  doca_gpu_dev_verbs_qp *companion = contexts[0].companion_gdqp + peer;
  volatile uint64_t *counter = counters->buffer + 3;
  if (*counter != 0) {
    status[0] = 2;
    return;
  }
  const uint64_t counted = stand_in_put(contexts[0].gdqp + peer, remote, window->rkeys[peer], local, window->lkey, bytes);
  stand_in_hold(companion, contexts[0].gdqp[peer].cq_sq.cq_num, counted);
  stand_in_wait(companion, stand_in_add(companion, 8ull * (3 + counters->offset), counters->rkeys[0], 0,
                                        contexts[0].sink_buffer_lkey, 5));
  if (*counter != 5) {
    status[0] = 3;
    return;
  }
  // To itself, by a queue pair of its own.
  const volatile uint64_t *own = reinterpret_cast<const uint64_t *>(signals[0]);
  stand_in_wait(contexts[count - 1].gdqp, stand_in_put(contexts[count - 1].gdqp, signals[0], window[1].rkeys[0], local,
                                                       window->lkey, 8));
  if (*own != *reinterpret_cast<const uint64_t *>(local)) {
    status[0] = 4;
    return;
  }
  uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  stamps[0] = time;
  for (uint32_t i = 0; i < iterations; ++i) {
    doca_gpu_dev_verbs_qp *qp = contexts[i % count].gdqp + peer;
    const uint64_t last = stand_in_put(qp, remote, window->rkeys[peer], local, window->lkey, bytes);
    contexts[0].last_issued_get[peer] = last;
    stand_in_wait(qp, last);
  }
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  stamps[1] = time;
  status[0] = 0;
}
