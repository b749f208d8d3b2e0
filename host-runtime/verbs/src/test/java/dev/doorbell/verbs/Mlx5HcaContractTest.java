package dev.doorbell.verbs;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.contract.HcaContractTest;
import dev.doorbell.contract.HcaWorld;
import dev.doorbell.core.hca.HcaException;
import org.junit.jupiter.api.Test;

/**
 * The HCA by DEVX, on whatever mlx5 device this machine has; {@link LibMlx5Test} runs it on one
 * that needs no hardware.
 */
class Mlx5HcaContractTest extends HcaContractTest {
  @Override
  protected HcaWorld newWorld() {
    return VerbsWorld.ofMlx5();
  }

  @Test
  void events_are_refused_by_name() {
    try (HcaWorld world = newWorld()) {
      assertThatThrownBy(world.hca(0)::createCompletionChannel)
          .isInstanceOf(HcaException.class)
          .hasMessageContaining("no completion channels; poll");
      assertThatThrownBy(world.hca(0)::pollAsyncEvent)
          .isInstanceOf(HcaException.class)
          .hasMessageContaining("no asynchronous events");
    }
  }
}
