package dev.doorbell.experiments.workbench.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelReport;
import org.junit.jupiter.api.Test;

/** Tests the description of the entries of a module that is not run. */
class EntriesTest {
  @Test
  void an_entry_says_what_its_launch_needs() {
    KernelReport.Entry entry =
        KernelWorkbench.check(
                "wait.ptx",
                """
                .version 8.3
                .target sm_75
                .address_size 64
                .extern .shared .align 16 .b8 pool[];
                .visible .entry await(.param .u64 cell, .param .u16 wanted, .param .align 8 .b8 box[12]) {
                  .reg .pred %p<2>; .reg .b64 %rd<2>; .reg .b32 %r<3>;
                  .shared .align 8 .b8 fixed[24];
                  .local .align 4 .b8 frame[20];
                  ld.param.u64 %rd1, [cell];
                again:
                  ld.acquire.sys.global.u32 %r1, [%rd1];
                  setp.eq.u32 %p1, %r1, 0;
                  @%p1 bra again;
                  st.shared.u32 [fixed], %r1;
                  st.shared.u32 [pool], %r1;
                  ret;
                }
                """)
            .entries()
            .getFirst();
    assertThat(entry.name()).isEqualTo("await");
    assertThat(entry.line()).isEqualTo(5);
    assertThat(entry.parameters())
        .containsExactly(
            new KernelReport.Parameter("cell", "u64", 0, 8),
            new KernelReport.Parameter("wanted", "u16", 8, 2),
            new KernelReport.Parameter("box", "b8", 16, 12));
    assertThat(entry.parameterBytes()).isEqualTo(28);
    assertThat(entry.sharedBytes()).isEqualTo(24);
    assertThat(entry.dynamicShared()).isTrue();
    assertThat(entry.localBytes()).isEqualTo(20);
    assertThat(entry.registers()).isEqualTo(3);
    assertThat(entry.slots()).isLessThanOrEqualTo(3);
    assertThat(entry.instructions()).isEqualTo(7);
  }
}
