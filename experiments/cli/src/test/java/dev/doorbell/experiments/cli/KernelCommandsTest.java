package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a kernel's author types, and what is answered to good and bad lines. */
class KernelCommandsTest {
  @TempDir private Path folder;
  private final Session session = new Session();
  private String ptx = "";

  @BeforeEach
  void bring_files() throws IOException {
    ptx = copy("scale.ptx").toString();
    copy("scale.cu");
  }

  private Path copy(String name) throws IOException {
    try (InputStream in =
        KernelCommandsTest.class.getResourceAsStream("/dev/doorbell/experiments/kernels/" + name)) {
      Path target = folder.resolve(name);
      Files.write(target, Objects.requireNonNull(in, name).readAllBytes());
      return target;
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "kernel;DB-U003  say what to do with the kernel",
        "kernel chekc;DB-U001  unknown command 'kernel chekc'  - did you mean 'check'?",
        "kernel new My-Put;DB-K008  'My-Put' cannot be the name of a kernel",
        "kernel new put_latency;DB-K008  'put_latency' is one of Doorbell's own kernels",
        "kernel new x --template rong;--template  DB-U004  there is no template 'rong'  - did you"
            + " mean 'ring'?",
        "kernel new x --dir @DIR;@DIR  DB-K009  this exists already",
        "kernel build @DIR/no;@DIR/no  DB-K001  there is no such file or folder",
        "kernel build @PTX --isa 8;--isa  DB-U003  '8' is no PTX ISA",
        "list kernels --kernels @DIR/no;--kernels @DIR/no  DB-U003  there is no such folder",
      })
  void a_command_line_that_makes_no_sense_is_exit_2(String line, String problem) {
    String typed = line.replace("@PTX", ptx).replace("@DIR", folder.toString());
    assertThat(session.type(typed.split(" ", -1))).as(typed).isEqualTo(ExitCode.USAGE);
    assertThat(session.err())
        .startsWith(problem.replace("@PTX", ptx).replace("@DIR", folder.toString()))
        .doesNotContain("\tat ");
  }

  @Test
  void check_says_what_a_file_needs() {
    assertThat(session.type("kernel", "check", ptx)).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains("PTX ISA 8.2   target sm_75")
        .contains("entry   scale(.u64 scale_param_0, .u64 scale_param_1, .f32 scale_param_2,")
        .contains("19 instructions, 16 registers in 8 slots, 24 B of parameters")
        .contains("note    " + ptx + ":")
        .contains("this loop polls memory and reads no clock: it has no deadline")
        .contains("(scale.cu:11)")
        .endsWith(ptx + "  ok\n");
  }

  @Test
  void check_tells_everything_that_is_not_supported_at_once() throws IOException {
    Path bad = folder.resolve("bad.ptx");
    Files.writeString(
        bad,
        Files.readString(Path.of(ptx))
            .replace("mul.f32", "frobnicate.f32")
            .replace("ld.volatile.global.u32", "ld.volatile.global.u33"));
    assertThat(session.type("kernel", "check", bad.toString())).isEqualTo(ExitCode.FAILED);
    assertThat(session.out())
        .containsPattern("bad\\.ptx:\\d+  DB-K002  .*frobnicate\\.f32 .*\\(scale\\.cu:7\\)")
        .containsPattern("bad\\.ptx:\\d+  DB-K002  .*u33")
        .contains("2 lines are not supported; nothing of the file can be loaded");
    assertThat(session.type("kernel", "check", bad.toString(), "--json"))
        .isEqualTo(ExitCode.FAILED);
    assertThat(session.out()).contains("\"unsupported\" : [ {").contains("\"scale.cu:7\"");
  }

  @Test
  void build_says_the_command_line_and_needs_nothing_for_it() {
    assertThat(session.type("kernel", "build", folder.toString(), "--dry-run"))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .startsWith("nvcc -ptx -O3 -std=c++17 -arch=compute_75 -lineinfo -I")
        .contains("scale.cu -o ")
        .endsWith("scale.ptx\n");
  }
}
