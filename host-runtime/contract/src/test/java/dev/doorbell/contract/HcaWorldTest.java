package dev.doorbell.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.memory.MemoryProvider;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class HcaWorldTest {
  /** A back end without a limit of its own: it works until it is told that all is done. */
  private static final class EndlessWorld implements HcaWorld {
    @Override
    public void work(BooleanSupplier done) {
      while (!done.getAsBoolean()) {
        Thread.onSpinWait();
      }
    }

    @Override
    public long waitNanos() {
      return 1_000_000;
    }

    @Override
    public Hca hca(int side) {
      throw new AssertionError("this world has no devices");
    }

    @Override
    public MemoryProvider memory(int side) {
      throw new AssertionError("this world has no devices");
    }

    @Override
    public void store64(int side, long address, long value) {}

    @Override
    public void settle() {}

    @Override
    public boolean deviceMemoryIsAddressable() {
      return true;
    }

    @Override
    public void close() {}
  }

  @Test
  void a_wait_ends_at_its_deadline_although_the_back_end_has_none() {
    assertThat(new EndlessWorld().runUntil(() -> false)).isFalse();
  }

  @Test
  void a_wait_ends_when_its_condition_holds() {
    int[] evaluations = {0};
    assertThat(new EndlessWorld().runUntil(() -> ++evaluations[0] == 3)).isTrue();
  }
}
