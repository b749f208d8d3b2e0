package dev.doorbell.ptxvm.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.ptxvm.engine.link.KernelLinker.LinkOptions;
import org.junit.jupiter.api.Test;

class ParsedPtxTest {
  private static final LinkOptions OPTIONS = LinkOptions.untimed(1024, true);

  /** A text that is so long that functions are parsed late. */
  private static ParsedPtx late() {
    String text =
        """
        .version 8.2
        .target sm_80
        .address_size 64
        .visible .func (.param .u64 y) twice (.param .u64 x) {
          .reg .b64 %d<3>;
          ld.param.u64 %d1, [x];
          shl.b64 %d2, %d1, 1;
          st.param.u64 [y], %d2;
          ret;
        }
        .visible .entry plain() {
          ret;
        }
        .visible .entry byPointer() {
          .reg .b64 %d<3>;
          mov.u64 %d1, twice;
          {
            .param .u64 x;
            .param .u64 y;
            st.param.u64 [x], %d1;
            way: .callprototype (.param .u64 _) _ (.param .u64 _);
            call (y), %d1, (x), way;
            ld.param.u64 %d2, [y];
          }
          ret;
        }
        """;
    ParsedPtx parsed = ParsedPtx.of("late", text + "// long\n".repeat(1 << 18));
    assertThat(parsed.module().isLate()).isTrue();
    return parsed;
  }

  @Test
  void a_kernel_of_a_long_text_is_linked_once_for_all_gpus() {
    ParsedPtx parsed = late();
    assertThat(parsed.shared("plain", OPTIONS)).isSameAs(parsed.shared("plain", OPTIONS));
  }

  @Test
  void a_kernel_to_which_calls_through_pointers_add_is_linked_for_each() {
    ParsedPtx parsed = late();
    assertThat(parsed.shared("byPointer", OPTIONS))
        .isNotSameAs(parsed.shared("byPointer", OPTIONS));
  }
}
