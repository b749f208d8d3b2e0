// Puts by the stand-in for GIN's back end Proxy beside this file. Compile it with
//
//   ./doorbell kernel build FOLDER --api gin_proxy --include FOLDER
//
// after a change of either, or of kernels/include/doorbell/api.
extern "C" __global__ void stand_in_gin_proxy(ncclGinProxyGpuCtx_t *contexts, uint64_t local, uint64_t inbox,
                                              uint64_t remote, uint32_t bytes, uint32_t iterations, uint32_t count,
                                              const uint64_t *signals, uint64_t *stamps, uint32_t *status) {
  const uint64_t window = reinterpret_cast<uint64_t>(contexts + count);
  const int peer = 1;
  uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  stamps[0] = time;
  ncclGinProxyGpuCtx_t *first = &contexts[0];
  volatile uint64_t *counter = first->counters + 7;
  const uint32_t put = ncclGinProxyOpPut;
  const uint64_t word = *reinterpret_cast<const uint64_t *>(local);
  // Each kind of operation: an inline put, one with a signal by number and a counter, a signal alone, and a get.
  stand_in_ask(first, peer, {put | ncclGinProxyOpWithInline, 8, word, 0, remote, window, 0, 0, 0});
  stand_in_ask(first, peer, {put | ncclGinProxyOpWithSignalAdd | ncclGinProxyOpWithCounter, bytes, local, window, remote,
                             window, 7, 1, 0x123456789abcdefull});
  stand_in_ask(first, peer, {ncclGinProxyOpVASignal | ncclGinProxyOpWithSignalInc, 0, signals[1] + 8, window + 16, 0, 0,
                             0, 0, 0});
  stand_in_flush(first, peer);
  if (*counter != 1) {
    status[0] = 1;
    return;
  }
  // The inbox is free at the sender: the peer's signals and its bytes come there, and go again.
  stand_in_ask(first, peer, {ncclGinProxyOpGet, 8, signals[1] + 8, window + 16, local, window, 0, 0, 0});
  stand_in_flush(first, peer);
  stand_in_ask(first, 0, {ncclGinProxyOpFlush, 0, 0, 0, 0, 0, 0, 0, 0});
  stand_in_flush(first, 0);
  volatile uint64_t *fetched = reinterpret_cast<uint64_t *>(local);
  if (*fetched != 0x123456789abcdf0ull || first->signals != reinterpret_cast<uint64_t *>(signals[0])) {
    status[0] = 2;
    return;
  }
  *fetched = word;
  // To itself, by a queue pair of its own.
  const volatile uint64_t *own = reinterpret_cast<const uint64_t *>(signals[0]);
  stand_in_ask(&contexts[count - 1], 0, {put, 8, local, window, signals[0], window + 16, 0, 0, 0});
  stand_in_flush(&contexts[count - 1], 0);
  if (*own != word) {
    status[0] = 4;
    return;
  }
  for (uint32_t i = 0; i < iterations; ++i) {
    stand_in_ask(&contexts[i % count], peer, {put | ncclGinProxyOpWithCounter, bytes, local, window, remote, window, 7, 0, 0});
  }
  for (uint32_t i = 0; i < count; ++i) {
    stand_in_flush(&contexts[i], peer);
  }
  if (*counter != 1 + (iterations + count - 1) / count) {
    status[0] = 3;
    return;
  }
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  stamps[1] = time;
  status[0] = 0;
}
