package dev.doorbell.experiments.workbench.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.explore.model.Policy;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Where the messages of several blocks lie. */
class MessagesTest {
  private static final String NAME = "side_by_side";

  /** Each block copies its message to the peer's inbox, by the number of bytes alone. */
  private static final String PTX =
      """
      .version 8.2
      .target sm_75
      .address_size 64

      .visible .entry side_by_side(.param .u64 local, .param .u64 remote, .param .u32 bytes,
          .param .u64 status)
      {
        .reg .pred %p<2>;
        .reg .b32 %r<5>;
        .reg .b64 %rd<9>;
        ld.param.u64 %rd1, [local];
        ld.param.u64 %rd2, [remote];
        ld.param.u32 %r1, [bytes];
        ld.param.u64 %rd3, [status];
        mov.u32 %r2, %ctaid.x;
        mul.wide.u32 %rd4, %r2, %r1;
        add.s64 %rd5, %rd1, %rd4;
        add.s64 %rd6, %rd2, %rd4;
        mov.u32 %r3, 0;
      COPY:
        ld.u64 %rd7, [%rd5];
        st.u64 [%rd6], %rd7;
        add.s64 %rd5, %rd5, 8;
        add.s64 %rd6, %rd6, 8;
        add.s32 %r3, %r3, 8;
        setp.lt.u32 %p1, %r3, %r1;
        @%p1 bra COPY;
        mul.wide.u32 %rd8, %r2, 4;
        add.s64 %rd3, %rd3, %rd8;
        mov.u32 %r4, 0;
        st.u32 [%rd3], %r4;
        ret;
      }
      """;

  private static final String DESCRIPTOR =
      """
      kernel: side_by_side
      description: copies over NVLink
      parameters: [local, remote, bytes, status]
      launch: { ranks: sender, nvlink: true }
      measures: nothing
      verify: receiver
      """;

  @Test
  void messages_lie_side_by_side_for_a_kernel_that_takes_no_stride() throws Exception {
    Scenario.Shape shape =
        new Scenario.Shape(
            2,
            1,
            Scenario.Slots.BLOCKS,
            List.of(Scenario.Arrival.ofAll(0, 1)),
            0,
            0,
            false,
            List.of("local", "remote", "bytes", "status"),
            Optional.of(DESCRIPTOR));
    Scenario scenario =
        new Scenario(
            new Scenario.Program(NAME + ".ptx", NAME, PTX, shape),
            new Scenario.Load(3, 1, 2, 32, 1, 64, 0, "thread", "pull"),
            Scenarios.posting("gpu", "gpu", 4),
            new Scenario.Rules(Policy.VENDOR, true));
    Explorer.Report report = Scenarios.explore(scenario, 3);
    assertThat(report.failures()).isEmpty();
  }
}
