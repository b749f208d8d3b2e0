package dev.doorbell.experiments.config.schema;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AmountsTest {
  @ParameterizedTest
  @CsvSource({
    "latency, 0, 0",
    "latency, 999, 999 ns",
    "latency, 6883, 6.883 us",
    "latency, 5227500, 5.228 ms",
    "goodput, 0.0129012, 0.0129 GB/s",
    "goodput, 44.6231, 44.62 GB/s",
    "rate, 9.7084, 9.708 M/s",
    "tlp.bytes, 12345678, 11.77 MiB",
    "tlp.bytes, 12, 12 B",
    "fences, 0.11, 0.11",
    "overlap, 1.0004, 1",
  })
  void a_metric_is_said_with_its_unit(String metric, double value, String text) {
    assertThat(Amounts.metric(metric, value)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "size, 65536, 64 KiB",
    "size, 77310, 75.5 KiB",
    "rtt, 64000, 64 us",
    "rtt, 6000000, 6 ms",
    "load, 70, 70 %",
    "window, 16, 16",
  })
  void a_setting_is_said_with_its_unit(String setting, double value, String text) {
    assertThat(Amounts.setting(setting, value)).isEqualTo(text);
  }

  @Test
  void numbers_have_four_digits_and_no_exponent() {
    assertThat(Amounts.number(1e-7)).isEqualTo("0.0000001");
    assertThat(Amounts.number(123456.7)).isEqualTo("123457");
    assertThat(Amounts.number(-0.6666666)).isEqualTo("-0.6667");
    assertThat(Amounts.number(Double.NaN)).isEqualTo("NaN");
  }
}
