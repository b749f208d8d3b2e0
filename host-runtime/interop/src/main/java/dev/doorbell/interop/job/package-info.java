/** The processes of a job: their ranks, and the exchange of values among them. */
@NullMarked
package dev.doorbell.interop.job;

import org.jspecify.annotations.NullMarked;
