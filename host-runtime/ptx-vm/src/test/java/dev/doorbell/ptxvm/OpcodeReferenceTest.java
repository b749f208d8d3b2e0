package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.ptxvm.engine.ops.OpcodeReference;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page about opcodes is what the table says. */
class OpcodeReferenceTest {
  private static final Path PAGE = Path.of("../../docs/ptx-opcodes.md");
  private static final String REWRITE =
      "run: ./doorbell test ptx-vm OpcodeReferenceTest" + " -Dptx.opcodes.write=true";

  @Test
  void the_page_is_what_the_opcode_table_says() throws IOException {
    if (Boolean.getBoolean("ptx.opcodes.write")) {
      Files.writeString(PAGE, OpcodeReference.markdown());
    }
    assertThat(PAGE).as("docs/ptx-opcodes.md is stale; %s", REWRITE).exists();
    assertThat(Files.readString(PAGE))
        .as("docs/ptx-opcodes.md is stale; %s", REWRITE)
        .isEqualTo(OpcodeReference.markdown());
  }

  @Test
  void no_instruction_is_both_known_and_refused() {
    List<String> names =
        OpcodeReference.markdown()
            .lines()
            .filter(line -> line.startsWith("| `"))
            .flatMap(line -> Stream.of(line.substring(3, line.indexOf('`', 3)).split(", ", -1)))
            .toList();
    assertThat(names).contains("add", "wgmma").doesNotHaveDuplicates();
  }
}
