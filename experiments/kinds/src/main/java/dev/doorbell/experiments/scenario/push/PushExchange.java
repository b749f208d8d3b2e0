package dev.doorbell.experiments.scenario.push;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.push.PushHeader;
import dev.doorbell.core.push.generated.PushRingView;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.push.PushChecker;
import dev.doorbell.push.PushOptions;
import dev.doorbell.push.RingShape;
import dev.doorbell.push.SendRing;
import dev.doorbell.push.network.Cable;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Messages of one GPU to another through a ring in on-chip memory, as fast as they go: whatever the
 * GPUs are made of.
 */
public record PushExchange(
    int slots,
    int bytes,
    int messages,
    int producers,
    int batch,
    int threads,
    boolean checksums,
    long first) {
  private static final int UNIT = 16;
  private static final long WAY_NANOS = 1000;

  /**
   * Sends all messages and compares them where they arrive.
   *
   * @param nanos after which a kernel is stopped, and half of it after which a wait of it ends
   * @param ended gets the ring as it was left, while all memory is there still; without the seals
   *     of its headers, which are sums over addresses
   * @throws GpuException when the kernel does not end well, or a message does not arrive as sent
   */
  public void run(
      DirectFabric fabric,
      Gpu sender,
      Gpu receiver,
      long seed,
      long nanos,
      Consumer<byte[]> ended) {
    PushChecker checker = new PushChecker();
    PushTraffic traffic =
        PushTraffic.of(
                new RingShape(slots, slots, Math.ceilDiv(bytes, UNIT) * UNIT, first),
                bytes,
                messages,
                0)
            .withBatch(batch)
            .withThreads(threads)
            .withFlags(checksums ? PushRingView.CHECKSUMS : 0)
            .withDeadline(nanos / 2)
            .withProducers(producers);
    try (Cable cable = new Cable(fabric, Locus.nic(0, 0), WAY_NANOS / 2, Cable.Impairment.NONE);
        PushNode target = new PushNode(fabric, receiver, cable, PushOptions.DEFAULT, checker);
        PushNode source = new PushNode(fabric, sender, cable, PushOptions.DEFAULT, checker)) {
      Memory inbox = target.inbox((long) traffic.total() * bytes);
      target.engine().expectFrom(first);
      source.prepare(traffic, seed, false);
      Launch launch = source.launch(inbox.address(), nanos);
      if (fabric.run(source::done, 2 * nanos) != RunOutcome.DONE) {
        launch.cancel("the comparison's time was over");
      }
      int outcome = source.outcome();
      fabric.quiesce();
      String wrong =
          outcome == Abi.OK
              ? source.mismatch(inbox, 0)
              : "%s; %s".formatted(Abi.statusText(outcome), source.engine().state());
      if (wrong != null) {
        throw new GpuException(wrong);
      }
      ended.accept(contents(source.ring(0)));
    }
  }

  private byte[] contents(SendRing ring) {
    byte[] bytes = ring.contents();
    int headers = Math.toIntExact(ring.headers() - ring.onChip().address());
    for (int i = 0; i < slots; i++) {
      int seal = headers + i * PushHeader.BYTES + PushHeader.SEAL;
      Arrays.fill(bytes, seal, seal + Integer.BYTES, (byte) 0);
    }
    return bytes;
  }
}
