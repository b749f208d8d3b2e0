package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import org.junit.jupiter.api.Test;

/** mbarriers and copies beside the thread: phases, bytes to come, and mistakes with them. */
class PhaseBarrierTest {
  private static final String BULK =
      """
      .visible .entry k(.param .u64 out)
      {
      .reg .b64 %rd<9>;
      .reg .b32 %r<9>;
      .reg .pred %p<3>;
      .shared .align 16 .b8 stage[64];
      .shared .align 8 .b64 bar;
      ld.param.u64 %rd1, [out];
      mov.u32 %r1, bar;
      mov.u32 %r2, stage;
      BODY
      ret;
      }
      """;

  private static String kernel(String body) {
    return BULK.replace("BODY", body);
  }

  private static int word(Memory memory, int offset) {
    return (int) (memory.getLong(offset & -8) >>> (offset % 8 * 8));
  }

  @Test
  void a_phase_ends_when_all_have_arrived_and_all_bytes_are_there() {
    try (World world = new World()) {
      Memory out = world.device(64);
      world.runText(
          kernel(
              """
              mbarrier.init.shared.b64 [%r1], 1;
              mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 32;
              mbarrier.arrive.shared.b64 %rd2, [%r1];
              mbarrier.test_wait.shared.b64 %p1, [%r1], %rd2;
              selp.u32 %r3, 1, 0, %p1;
              st.global.u32 [%rd1], %r3;
              cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 32, [%r1];
              mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0;
              selp.u32 %r3, 1, 0, %p1;
              st.global.u32 [%rd1+4], %r3;
              mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 1;
              selp.u32 %r3, 1, 0, %p1;
              st.global.u32 [%rd1+8], %r3;
              """),
          "k",
          LaunchConfig.of(1, 1),
          new KernelArguments().add(out));
      assertThat(word(out, 0)).as("bytes are still to come").isZero();
      assertThat(word(out, 4)).as("the first phase is over").isEqualTo(1);
      assertThat(word(out, 8)).as("the second is not").isZero();
    }
  }

  @Test
  void a_byte_count_that_comes_before_it_is_announced_ends_no_phase() {
    try (World world = new World()) {
      Memory out = world.device(64);
      world.runText(
          kernel(
              """
              mbarrier.init.shared.b64 [%r1], 1;
              cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 16, [%r1];
              mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r1], 16;
              mbarrier.try_wait.shared.b64 %p1, [%r1], %rd2;
              selp.u32 %r3, 1, 0, %p1;
              st.global.u32 [%rd1], %r3;
              """),
          "k",
          LaunchConfig.of(1, 1),
          new KernelArguments().add(out));
      assertThat(word(out, 0)).isEqualTo(1);
    }
  }

  @Test
  void mistakes_stop_the_kernel_with_the_line() {
    String init = "mbarrier.init.shared.b64 [%r1], 1;\n";
    assertStops("mbarrier.arrive.shared.b64 _, [%r1];", "was not initialised");
    assertStops("mbarrier.init.shared.b64 [%r1], 0;", "for 0 arrivals");
    assertStops(init + "mbarrier.arrive.shared.b64 _, [%r1], 2;", "2 arrivals");
    assertStops(init + "mbarrier.arrive.b64 _, [%rd1];", "lies in shared memory");
    assertStops(
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 24;", "multiples of 16");
    assertStops(
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 4096;",
        "the shared memory here has");
    assertStops("cp.async.cg.shared.global [%r2+8], [%rd1], 16;", "misaligned");
    assertStops("cp.async.ca.shared.global [%r2], [%rd1], 4, 5;", "reads 5 bytes to write 4");
  }

  private static void assertStops(String body, String reason) {
    try (World world = new World()) {
      Memory out = world.device(64);
      assertThatThrownBy(
              () ->
                  world.runText(
                      kernel(body), "k", LaunchConfig.of(1, 1), new KernelArguments().add(out)))
          .as(body)
          .isInstanceOf(GpuException.class)
          .hasMessageContaining(reason)
          .hasMessageContaining("test.ptx:");
    }
  }

  @Test
  void what_needs_a_cluster_stops_who_gets_there_in_words() {
    for (String line :
        new String[] {
          "barrier.cluster.arrive;",
          "mapa.shared::cluster.u32 %r3, %r1, 0;",
          "getctarank.shared::cluster.u32 %r3, %r1;"
        }) {
      assertStops(line, "clusters are not supported");
    }
    assertStops("mma.sync.m8n8k4 %r1;", "matrix instructions are not supported");
  }

  @Test
  void what_no_thread_gets_to_stops_none() {
    String body =
        """
        .extern .func other;
        .visible .entry k() {
          .reg .pred %p; .reg .b32 %r; .reg .b64 %rd;
          setp.ne.u32 %p, 1, 1;
          @%p mapa.shared::cluster.u32 %r, %r, 0;
          @%p call other;
          ret;
        }
        """;
    try (World world = new World()) {
      world.runText(body, "k", LaunchConfig.of(1, 1), new KernelArguments());
    }
    try (World world = new World()) {
      String gets = body.replace("1, 1", "0, 1").replace("@%p mapa", "@!%p mapa");
      assertThatThrownBy(
              () -> world.runText(gets, "k", LaunchConfig.of(1, 1), new KernelArguments()))
          .isInstanceOf(GpuException.class)
          .hasMessageContaining("function 'other' is not defined in this file");
    }
  }
}
