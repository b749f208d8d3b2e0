/**
 * Flow graphs of functions and what is found out about them: pure functions on indices and slots.
 */
@NullMarked
package dev.doorbell.ptxjit.flow;

import org.jspecify.annotations.NullMarked;
