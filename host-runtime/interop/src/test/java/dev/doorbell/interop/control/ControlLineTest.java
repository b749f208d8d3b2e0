package dev.doorbell.interop.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.interop.control.ControlLine.Refused;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ControlLineTest {
  @Test
  void a_line_says_the_same_after_it_was_written_and_read() throws Refused {
    ControlLine line =
        ControlLine.of("connect")
            .with("hca", "[fe80::1]:5000")
            .with("text", "a b=c %\nnext ü")
            .with("qpn", 256);
    assertThat(line.text()).doesNotContain("\n").isEqualTo(line.text().strip());
    assertThat(ControlLine.parse(line.text())).isEqualTo(line);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "   ", "GET / HTTP/1.1", "connect hca", "connect =x", "a b=1 b=2", "a b=%zz"})
  void what_is_no_message_is_refused(String text) {
    assertThatThrownBy(() -> ControlLine.parse(text)).isInstanceOf(Refused.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"n=", "n=x", "n=-1", "n=11", "n=0x", "n=99999999999999999999", "m=1"})
  void a_number_outside_its_range_is_refused(String value) throws Refused {
    ControlLine line = ControlLine.parse("region " + value);
    assertThatThrownBy(() -> line.number("n", 0, 10)).isInstanceOf(Refused.class);
  }

  @Test
  void numbers_are_decimal_or_hexadecimal() throws Refused {
    ControlLine line = ControlLine.parse("region a=10 b=0x10");
    assertThat(line.number("a", 0, 10)).isEqualTo(10);
    assertThat(line.number("b", 0, 16)).isEqualTo(16);
    assertThat(line.number("c", 0, 16, 5)).isEqualTo(5);
  }
}
