package dev.doorbell.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.queue.CommandEntry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** command_queue.cuh and the Java side say the same. */
class CommandQueueHeaderTest {
  private static final Path HEADER =
      Path.of("..", "kernels", "include", "doorbell", "command_queue.cuh");

  @Test
  void constants_are_equal() throws IOException {
    Map<String, Long> constants = new TreeMap<>();
    Matcher matcher =
        Pattern.compile("(?m)^#define (DOORBELL_COMMAND_\\w+) (0x[0-9a-f]+|\\d+)u")
            .matcher(Files.readString(HEADER));
    while (matcher.find()) {
      constants.put(matcher.group(1), Long.decode(matcher.group(2)));
    }
    assertThat(constants)
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "DOORBELL_COMMAND_NOP", (long) CommandEntry.OP_NOP,
                "DOORBELL_COMMAND_FLUSH", (long) CommandEntry.OP_FLUSH,
                "DOORBELL_COMMAND_FENCE", (long) CommandEntry.FLAG_FENCE,
                "DOORBELL_COMMAND_INLINE_BYTES", (long) CommandEntry.INLINE_BYTES));
    assertThat(Files.readString(HEADER))
        .contains("#define DOORBELL_COMMANDS_FAILED (UINT64_C(1) << 63)");
    assertThat(CommandEntry.FINISHED_FAILED).isEqualTo(1L << 63);
  }
}
