/**
 * Messages that wait at their sender: in which order it posts them, and what that does to those
 * that are urgent, short or due.
 */
@NullMarked
package dev.doorbell.experiments.scenario.scheduling;

import org.jspecify.annotations.NullMarked;
