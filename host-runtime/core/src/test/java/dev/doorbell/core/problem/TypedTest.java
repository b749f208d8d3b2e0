package dev.doorbell.core.problem;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TypedTest {
  @BeforeEach
  void start() {
    System.setProperty("doorbell.program", "../db/doorbell");
  }

  @AfterEach
  void end() {
    System.clearProperty("doorbell.program");
  }

  @Test
  void messages_name_the_program_as_it_was_started() {
    assertThat(Problem.of("DB-U001", null, "unknown").fix("doorbell --help lists them").text())
        .endsWith("fix     ../db/doorbell --help lists them");
    assertThat(Typed.in("see: doorbell table RUN; or 'doorbell run --resume R'"))
        .isEqualTo("see: ../db/doorbell table RUN; or '../db/doorbell run --resume R'");
  }

  @Test
  void other_doorbells_keep_their_name() {
    assertThat(Typed.in("the doorbell record, ./doorbell run, a doorbell is late"))
        .isEqualTo("the doorbell record, ./doorbell run, a doorbell is late");
  }

  @Test
  void commands_can_be_pasted_into_a_shell() {
    assertThat(Typed.command(List.of("run", "my.yaml", "-s", "size=64,4K", "--until", "a<2% b'c")))
        .isEqualTo("../db/doorbell run my.yaml -s size=64,4K --until 'a<2% b'\\''c'");
  }
}
