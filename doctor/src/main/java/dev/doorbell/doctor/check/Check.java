package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;

/** A part of the checklist: compares a machine's facts with a rule and adds what it finds. */
interface Check {
  void examine(CheckedMachine machine, CheckResults found);
}
