package dev.doorbell.experiments.pasted;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HexDumpTest {
  private static final String BYTES = "000000000000881308000011000542d3";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "00000030: 00 00 00 00 00 00 88 13 08 00 00 11 00 05 42 d3",
        "00000030: 00 00 00 00 00 00 88 13 08 00 00 11 00 05 42 D3 | ..............B.",
        "[  12.345678] 00000030: 00 00 00 00 00 00 88 13 08 00 00 11 00 05 42 d3",
        "Apr 29 19:24:12 n1 kernel: 00000030: 00 00 00 00 00 00 88 13 08 00 00 11 00 05 42 d3",
        "[Tue Mar  5 10:11:12 2024] 00000030: 00 00 00 00 00 00 88 13 08 00 00 11 00 05 42 d3",
        "00000000 00008813 08000011 000542d3",
        "0x00000000, 0x00008813, 0x08000011, 0x000542d3",
        "0x0030:  0000 0000 0000 8813 0800 0011 0005 42d3  ..............B.",
      })
  void bytes_are_found_in_a_line_of_a_dump(String line) {
    assertThat(HexDump.sure(line).map(HexFormat.of()::formatHex)).as(line).contains(BYTES);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GPU0 X NV4",
        "         8             2     float     sum      -1    40.64    0.00",
        "mlx5_core 0000:04:00.0: firmware version: 16.27.2048",
        "deadbeef is a word",
        "d41d8cd98f00b204e9800998ecf8427e",
      })
  void no_other_line_is_a_dump(String line) {
    assertThat(HexDump.sure(line)).isEmpty();
  }
}
