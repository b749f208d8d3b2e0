package dev.doorbell.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PtxOutlineTest {
  @Test
  void entries_come_with_the_places_of_their_parameters() {
    PtxOutline outline =
        PtxOutline.of(
            """
            .version 8.0
            .target sm_75
            // .visible .entry commented_out(.param .u64 a)
            .visible .entry first(
              .param .u8 first_param_0,
              .param .align 8 .b8 first_param_1[20],   /* a structure, by value */
              .param .u64 .ptr .global .align 16 first_param_2,
              .param .f32 first_param_3
            )
            .maxntid 256, 1, 1
            {
              .reg .b32 %r<2>;
              bra L;
            L: ret;
            }
            .entry _Z6secondv { ret; }
            .weak .entry $third() { ret; }
            """);
    assertThat(outline.entries())
        .extracting(PtxOutline.Entry::name)
        .containsExactly("first", "_Z6secondv", "$third");
    assertThat(outline.entries().getFirst().parameters())
        .containsExactly(
            new PtxOutline.Parameter(0, 1),
            new PtxOutline.Parameter(8, 20),
            new PtxOutline.Parameter(32, 8),
            new PtxOutline.Parameter(40, 4));
    assertThat(outline.entries().getFirst().bytes()).isEqualTo(44);
    assertThat(outline.entries().get(1).parameters()).isEmpty();
    assertThat(outline.entries().get(2).bytes()).isZero();
  }

  @Test
  void variables_of_the_file_are_named_and_those_of_functions_are_not() {
    PtxOutline outline =
        PtxOutline.of(
            """
            .version 8.0
            .target sm_75
            .visible .global .align 8 .u64 counter = 40;
            .global .align 1 .b8 text[6] = {104, 123, 125, 59, 111, 0};
            .const .f32 pi = 0f40490FDB;
            .visible .global .align 4 .b8 last[];
            .extern .shared .align 8 .b8 scratch[];
            .visible .entry run() {
              .local .align 4 .b8 stack[8];
              ret;
            }
            .global .u32 behind;
            """);
    assertThat(outline.variables()).containsExactly("counter", "text", "pi", "last", "behind");
  }
}
