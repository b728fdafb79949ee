// Whether a page is for people only: a captcha, or a question that somebody has to answer first.
// Nothing is judged here; whoever evaluates this checks every value.
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
