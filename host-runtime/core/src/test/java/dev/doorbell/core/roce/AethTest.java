package dev.doorbell.core.roce;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AethTest {
  @ParameterizedTest
  @CsvSource({
    "0,0,0",
    "1,1,1",
    "4,4,4",
    "5,4,4",
    "6,5,6",
    "7,5,6",
    "8,6,8",
    "11,6,8",
    "12,7,12",
    "16,8,16",
    "23,8,16",
    "1000,19,768",
    "1024,20,1024",
    "32768,30,32768",
    "100000,30,32768",
    "-3,0,0"
  })
  void an_ack_grants_the_most_credits_that_a_code_has(int credits, int syndrome, int granted) {
    assertThat(Aeth.ackWith(credits)).isEqualTo(syndrome);
    assertThat(Aeth.isAck(syndrome)).isTrue();
    assertThat(Aeth.credits(syndrome)).isEqualTo(granted);
  }

  @ParameterizedTest
  @CsvSource({"0x1f", "0x2c", "0x60", "0x9f", "0xff"})
  void other_answers_grant_none(String syndrome) {
    assertThat(Aeth.credits(Integer.decode(syndrome))).isEqualTo(-1);
  }
}
