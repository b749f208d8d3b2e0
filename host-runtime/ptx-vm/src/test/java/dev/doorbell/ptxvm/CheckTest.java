package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Refusal;
import dev.doorbell.ptxvm.ir.SourceLine;
import dev.doorbell.ptxvm.launch.PtxCheck;
import dev.doorbell.ptxvm.parser.PtxParser;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a file is told before anything of it runs: what is refused, and where it comes from. */
class CheckTest {
  private static final String INLINED =
      World.ptx(
          """
          .visible .entry put()
          {
          .reg .b32 %r<9>;
          .loc 1 40 5
          mov.u32 %r1, 1;
          .loc 2 7 3, function_name $L__info_string0, inlined_at 1 40 5
          mov.u32 %r2, 2;
          .loc 3 900 1, function_name $L__info_string0+5, inlined_at 2 7 3
          barrier.cluster.arrive;
          mma.sync.m8n8k4 %r1;
          .loc 1 41 1
          frob.u32 %r3, %r2;
          ret;
          }
          .file 1 "src/put.cu"
          .file 2 "include/post.cuh"
          .file 3 "cuda/include/cccl/cuda/std/atomic.h"
          .section .debug_str
          {
          $L__info_string0:
          .b8 112,111,115,116,0,114,105,110,103,0
          }
          """);

  @Test
  void everything_that_is_refused_is_named_at_once_with_its_lines() {
    List<Refusal> refusals = World.check("put.ptx", INLINED);
    assertThat(refusals)
        .extracting(refusal -> refusal.describe(PtxParser.parse("put.ptx", INLINED).module()))
        .containsExactly("put.ptx:15: instruction not supported: frob.u32 %r3, %r2; (put.cu:41)");
  }

  @Test
  void what_stops_a_thread_that_gets_there_is_named_beside_it() {
    assertThat(PtxCheck.of(PtxParser.parse("put.ptx", INLINED)).stops())
        .extracting(stop -> stop.describe(PtxParser.parse("put.ptx", INLINED).module()))
        .containsExactly(
            "put.ptx:12: clusters are not supported: barrier.cluster.arrive;"
                + " (post.cuh:7, inlined at put.cu:40)",
            "put.ptx:13: matrix instructions are not supported: mma.sync.m8n8k4 %r1;"
                + " (post.cuh:7, inlined at put.cu:40)");
  }

  @Test
  void an_instruction_knows_the_lines_that_it_was_inlined_through() {
    Instruction cluster =
        PtxParser.parse("put.ptx", INLINED).module().functions().values().stream()
            .flatMap(function -> function.code().stream())
            .filter(instruction -> instruction.line() == 12)
            .findFirst()
            .orElseThrow();
    assertThat(cluster.source().frames())
        .extracting(SourceLine::file, SourceLine::line, SourceLine::column, SourceLine::function)
        .containsExactly(
            tuple("cuda/include/cccl/cuda/std/atomic.h", 900, 1, "ring"),
            tuple("include/post.cuh", 7, 3, "post"),
            tuple("src/put.cu", 40, 5, ""));
    assertThat(cluster.source().own().fileName()).isEqualTo("post.cuh");
  }

  @Test
  void a_file_that_can_be_loaded_has_nothing_to_be_told() {
    assertThat(World.check("posts.ptx", World.text("posts.ptx"))).isEmpty();
  }

  @Test
  void what_is_no_ptx_is_refused_as_such() {
    assertThat(World.check("x", "hello"))
        .extracting(Refusal::reason)
        .containsExactly("expected a directive, found 'hello'");
    assertThat(World.check("x", "")).extracting(Refusal::reason).hasSize(1);
  }

  @Test
  void a_line_inlined_into_itself_ends() {
    String loops = ".loc 1 3 1, function_name f, inlined_at 1 3 1\nnop;\n".repeat(500);
    assertThat(World.check("x", World.ptx(".entry k() {\n" + loops + "ret; }\n.file 1 \"a.cu\"")))
        .hasSize(500);
  }
}
