// Detects pages that require a person: a captcha or a consent form.
// Returns plain data; the caller validates every value.
() => {
  const CHALLENGES =
    '#challenge-form, #challenge-stage, .cf-turnstile, .g-recaptcha, .h-captcha, iframe[src*="captcha"], ' +
    'iframe[src*="challenges.cloudflare.com"], #px-captcha, #cmpwrapper, #onetrust-consent-sdk';
  const body = document.body;
  return {
    loaded: document.readyState === "complete",
    challenge: document.querySelector(CHALLENGES) !== null,
    title: document.title.slice(0, 200),
    text: (body ? body.innerText : "").slice(0, 2000),
  };
}
