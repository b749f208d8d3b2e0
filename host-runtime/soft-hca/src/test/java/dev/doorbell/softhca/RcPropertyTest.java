package dev.doorbell.softhca;

import dev.doorbell.core.hca.ProtectionDomain;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random requests over a wire that loses, doubles, reorders and delays packets have the outcome
 * that {@link RcModel} says, whatever the wire does.
 */
class RcPropertyTest {
  private static final int EVERYDAY = 2_000;
  private static final int SLOW = 100_000;

  /** Sequences of one world: its numbers and keys are used up slowly. */
  private static final int PER_WORLD = 2_000;

  @Test
  void random_sequences_over_a_faulty_wire_never_diverge_from_the_model() {
    run(1, EVERYDAY);
  }

  /**
   * {@code -Ddoorbell.rc.sequences} chooses how many, {@code -Ddoorbell.rc.seed} where to begin.
   */
  @Test
  @Tag("slow")
  void many_random_sequences_over_a_faulty_wire_never_diverge_from_the_model() {
    run(
        Long.getLong("doorbell.rc.seed", 1_000_000),
        Integer.getInteger("doorbell.rc.sequences", SLOW));
  }

  private static void run(long firstSeed, int sequences) {
    for (int from = 0; from < sequences; from += PER_WORLD) {
      int mtu = from / PER_WORLD % 2 == 0 ? 256 : 1024;
      try (SteppedWorld world = SteppedWorld.withMtu(mtu)) {
        ProtectionDomain[] domains = {
          world.hca(0).allocateProtectionDomain(), world.hca(1).allocateProtectionDomain()
        };
        for (int i = from; i < Math.min(sequences, from + PER_WORLD); i++) {
          new RcSequence(world, domains, mtu, firstSeed + i, i % 3 != 0).check();
        }
      }
    }
  }
}
