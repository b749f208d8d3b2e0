package dev.doorbell.experiments.workbench.diff.run;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.push.generated.PushRingView;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.scenario.push.PushExchange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.SplittableRandom;

/**
 * Messages through a ring in on-chip memory, to be compared: the ring itself too, where one block
 * fills it.
 */
record ComparedPush(PushExchange exchange, CudaGpu.Mover mover, long seed) implements Compared {
  static final List<String> KERNELS = List.of("push_ring", "push_shared");

  private static final int MOST_SLOTS_SHIFT = 5;
  private static final int MOST_WORDS = 512;
  private static final int MOST_MESSAGES = 60;
  private static final int MOST_FIRST = 1000;
  private static final String RING = "on-chip ring of rank0.gpu0";

  static ComparedPush random(String kernel, SplittableRandom random, long seed) {
    int producers = kernel.equals("push_shared") ? 2 + random.nextInt(3) : 1;
    int slots = 1 << random.nextInt(MOST_SLOTS_SHIFT + 1);
    return new ComparedPush(
        new PushExchange(
            slots,
            Integer.BYTES * (1 + random.nextInt(MOST_WORDS)),
            producers * (1 + random.nextInt(MOST_MESSAGES)),
            producers,
            1 + random.nextInt(slots),
            1 + random.nextInt(64),
            random.nextBoolean(),
            random.nextInt(MOST_FIRST)),
        random.nextBoolean() ? CudaGpu.Mover.COPY : CudaGpu.Mover.KERNEL,
        seed);
  }

  @Override
  public SequencedMap<String, byte[]> on(Machine machine, long nanos) {
    DirectFabric fabric = machine.fabric();
    List<RecordingGpu> recorded = new ArrayList<>();
    try (RecordingGpu sender = new RecordingGpu(machine.gpu(fabric, 0), recorded);
        RecordingGpu receiver = new RecordingGpu(machine.gpu(fabric, 1), recorded)) {
      SequencedMap<String, byte[]> contents = new LinkedHashMap<>();
      exchange.run(
          fabric,
          sender,
          receiver,
          seed,
          nanos,
          ring -> {
            recorded.forEach(gpu -> contents.putAll(gpu.contents()));
            contents.put(RING, sender.relocated(ring));
          });
      return contents;
    }
  }

  /**
   * Clears what is chance: how far credits had been looked at, and which block filled which slot.
   */
  @Override
  public byte[] canonical(String name, byte[] bytes) {
    boolean shared = exchange.producers() > 1;
    if (name.startsWith("push counters")) {
      byte[] copy = bytes.clone();
      clear(copy, PushRingView.COUNTERS_SEEN);
      if (shared) {
        clear(copy, PushRingView.COUNTERS_RUNG);
      }
      return copy;
    }
    return shared && name.equals(RING) ? new byte[0] : bytes;
  }

  private static void clear(byte[] bytes, int offset) {
    Arrays.fill(bytes, offset, offset + Long.BYTES, (byte) 0);
  }

  @Override
  public String parameters() {
    return String.format(
        Locale.ROOT,
        "%d slots, %d messages of %d B from %d, %dx%d batch=%d%s mover=%s",
        exchange.slots(),
        exchange.messages(),
        exchange.bytes(),
        exchange.first(),
        exchange.producers(),
        exchange.threads(),
        exchange.batch(),
        exchange.checksums() ? " checksums" : "",
        mover.name().toLowerCase(Locale.ROOT));
  }
}
