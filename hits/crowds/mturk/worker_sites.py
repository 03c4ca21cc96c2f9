"""Amazon's sites that workers see: which may frame our page, and to which it hands the work in."""

WORKER_SITES = {"sandbox": "https://workersandbox.mturk.com", "production": "https://worker.mturk.com"}
SUBMIT_SITES = {
    "sandbox": ["https://workersandbox.mturk.com"],
    "production": ["https://www.mturk.com", "https://worker.mturk.com"],
}
SUBMIT_PATH = "/mturk/externalSubmit"
NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"  # the assignment's id while a worker only looks
# In the WSGI environment of a page that a simulated crowd in this process asks for. No header gets such a name.
IN_THIS_PROCESS = "evalplatform.simulated_crowd"
