package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.listing.FunctionListing;
import dev.doorbell.ptxvm.parser.PtxParser;
import org.junit.jupiter.api.Test;

/** What is said of a module that is not run. */
class ListingTest {
  private static final String WAIT =
      """
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
      """;

  private static PtxModule module() {
    PtxParser.Result parsed = PtxParser.parse("wait.ptx", World.ptx(WAIT));
    assertThat(parsed.refusals()).isEmpty();
    return parsed.module();
  }

  @Test
  void a_loop_that_polls_is_found_with_what_could_end_it() {
    FunctionListing.Polling loop = FunctionListing.of(module()).getFirst().loops().getFirst();
    assertThat(loop.head()).isEqualTo(1);
    assertThat(loop.branch()).isEqualTo(3);
    assertThat(loop.kind().watchesClock()).isFalse();
    assertThat(loop.kind().pure()).isTrue();
  }
}
