package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.kernel.KernelDescriptorReader;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.scenario.PointBench;
import dev.doorbell.experiments.scenario.SessionRuntime;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stores of a kernel to the memory of its peer, in virtual and in wall time. */
class PeerStoresTest {
  private static final String DESCRIPTOR =
      """
      kernel: peer
      description: stores to its peer
      isa: "8.2"
      parameters: [local, remote, role, status, stamps]
      launch: { ranks: both, nvlink: true }
      measures: goodput
      verify: receiver
      """;

  private static final String PTX =
      """
      .version 8.2
      .target sm_75
      .address_size 64
      .visible .entry peer(.param .u64 local, .param .u64 remote, .param .u32 role,
          .param .u64 status, .param .u64 stamps) {
        .reg .pred %p<2>;
        .reg .b32 %r<3>;
        .reg .b64 %rd<10>;
        ld.param.u64 %rd1, [status];
        ld.param.u32 %r1, [role];
        setp.ne.u32 %p1, %r1, 0;
        @%p1 bra END;
        ld.param.u64 %rd2, [stamps];
        mov.u64 %rd3, %globaltimer;
        st.global.u64 [%rd2], %rd3;
        ld.param.u64 %rd4, [local];
        ld.param.u64 %rd5, [remote];
        ld.global.v2.u64 {%rd6, %rd7}, [%rd4];
        st.global.v2.u64 [%rd5], {%rd6, %rd7};
        ld.global.v2.u64 {%rd6, %rd7}, [%rd4+16];
        st.global.v2.u64 [%rd5+16], {%rd6, %rd7};
        add.u64 %rd3, %rd3, 100;
        st.global.u64 [%rd2+8], %rd3;
      END:
        mov.u32 %r2, 0;
        st.global.u32 [%rd1], %r2;
        ret;
      }
      """;

  private static void run(String clock, String placement) throws Exception {
    UserKernel kernel =
        new UserKernel(
            new KernelDescriptorReader().read("peer.kernel.yaml", DESCRIPTOR),
            "peer.kernel.yaml",
            "peer.ptx",
            PTX);
    String config =
        """
        experiment: e
        question: q?
        kernel: peer
        axes: { size: [32] }
        fixed: { placement: %s }
        measure: { metrics: [goodput], samples: 1 }
        """
            .formatted(placement);
    Point point =
        Plan.of(new ConfigReader(Vocabulary.anything()).read("e.yaml", config, List.of()))
            .points()
            .getFirst();
    ExperimentRuntime runtime = new SessionRuntime().with(List.of(kernel));
    runtime
        .runner(runtime.choose(new Environment.Request("vm", "soft", clock), List.of(point)))
        .run(point, new PointBench());
  }

  @ParameterizedTest
  @ValueSource(strings = {"virtual", "wall"})
  void a_topology_without_nvlink_refuses_them_on_every_clock(String clock) throws Exception {
    assertThatThrownBy(() -> run(clock, "same-switch"))
        .isInstanceOf(PointFailure.class)
        .hasMessageContaining(
            "rank0.gpu0 cannot address memory of rank1.gpu0, no NVLink is between them (topology"
                + " 'same-switch' has none, h800-cx7 has)");
    run(clock, "h800-cx7");
  }
}
