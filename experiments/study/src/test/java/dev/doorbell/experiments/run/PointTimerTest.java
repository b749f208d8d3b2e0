package dev.doorbell.experiments.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class PointTimerTest {
  private static final Duration ALLOWED = Duration.ofMillis(50);

  @Test
  void a_point_in_virtual_time_has_so_much_processor_time() {
    long before = processorNanos();
    PointTimer timer = new PointTimer(true, ALLOWED);
    while (!timer.isOver(Duration.ZERO)) {
      Thread.onSpinWait();
    }
    assertThat(processorNanos() - before).isGreaterThan(0);
    assertThat(processorNanos()).isGreaterThan(ALLOWED.toNanos());
    assertThat(timer.isOver(Duration.ofHours(1))).isFalse();
  }

  @Test
  void one_that_waits_for_nothing_ends_by_the_wall() throws InterruptedException {
    PointTimer[] made = new PointTimer[1];
    Thread waiting = new Thread(() -> waitForEver(made));
    waiting.start();
    synchronized (made) {
      while (made[0] == null) {
        made.wait();
      }
    }
    long begun = System.nanoTime();
    while (!made[0].isOver(Duration.ZERO)) {
      assertThat(System.nanoTime() - begun).isLessThan(Duration.ofSeconds(30).toNanos());
      Thread.sleep(1);
    }
    waiting.interrupt();
    waiting.join();
  }

  private static void waitForEver(PointTimer[] made) {
    synchronized (made) {
      made[0] = new PointTimer(true, ALLOWED);
      made.notifyAll();
    }
    try {
      Thread.sleep(Duration.ofMinutes(1));
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void one_in_wall_time_has_so_much_of_it() throws InterruptedException {
    PointTimer timer = new PointTimer(false, ALLOWED);
    Thread.sleep(60);
    assertThat(timer.isOver(Duration.ZERO)).isTrue();
    assertThat(timer.isOver(Duration.ofHours(1))).isFalse();
  }

  private static long processorNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
