/** Fault plans as files: what may be written, and what is wrong with what was. */
@NullMarked
package dev.doorbell.experiments.fault;

import org.jspecify.annotations.NullMarked;
